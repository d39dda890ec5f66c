/** What other modules may use of http. */
export { parseBody } from './body.js';
export { lossyNumber, MAX_VALUES } from './body-scan.js';
export { serve } from './serve.js';
export { createServer } from './server.js';
