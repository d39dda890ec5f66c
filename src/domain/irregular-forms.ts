/** x */
export const irregularForms: ReadonlyMap<string, string> = new Map();
