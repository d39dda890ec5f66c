/** What other modules may use of http. */
export { serve } from './serve.js';
