/** How long work that is done in many small steps lets others have their turn: the seam between pure code and the event loop. */

/** Asked between steps. A promise when it is time to wait, undefined when the work may go on; throws when it is to stop. */
export type GiveWay = () => Promise<void> | undefined;

/** Counts tokens, at once or later. */
export type TokenCounter = (text: string) => number | Promise<number>;
