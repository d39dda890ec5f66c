/** Numbers in messages. */

/** `1,048,576`. `toLocaleString` loads tables of the language for it, in 40 ms. */
export const withCommas = (value: number): string => String(value).replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ',');
