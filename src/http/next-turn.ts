/** A cooperative yield: whatever waits for the event loop goes first. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
