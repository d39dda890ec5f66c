/** The modules of src/, in the order in which they may refer to each other. */

/** Each imports only those before it, and its SQL names only tables of its own and of those. */
export const ORDER = [
  'kernel',
  'text',
  'driver',
  'engine',
  'identity',
  'providers',
  'index',
  'facts',
  'memory',
  'checkpoints',
  'recall',
  'coordination',
  'maintenance',
  'api',
];

/** What is outside of them: no module imports it, and it names no table. */
export const OUTSIDE = ['http', 'mcp', 'cli', 'client', 'runtime', 'adapters'];
