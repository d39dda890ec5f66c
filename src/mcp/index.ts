/** What other modules may use of mcp. */
export { serveMcp } from './serve.js';
