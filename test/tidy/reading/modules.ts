/** The modules of src/ in the order of their imports, their doors, and the roles of files in a room. */

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
  'dsl',
  'maintenance',
  'api',
];

/** No module imports these, and they name no table. */
export const OUTSIDE = ['http', 'mcp', 'cli', 'client', 'runtime', 'adapters'];

export const MODULES = [...ORDER, ...OUTSIDE];

/**
 * The files of a module that others may import. `index.ts` has use cases and registries; `contract.ts` has models and
 * operations, which clients load too; `sql.ts` has rows and conditions, which the reading thread of SQLite loads too; the
 * kernel's `node.ts` has what needs Node; `main.ts` is the command. The package's own entries are files of src/ itself.
 */
export const DOORS = ['index.ts', 'contract.ts', 'sql.ts', 'node.ts', 'main.ts'];

/** The folder below src/; '.' for a file of src/ itself. */
export const moduleOf = (path: string): string => {
  const parts = path.split('/');
  return parts.length > 2 ? parts[1]! : '.';
};

/** An adapter is a package entry of its own: src/adapters/langgraph/index.ts. */
const depthOfDoor = (module: string): number => (module === 'adapters' ? 4 : 3);

export function isDoor(path: string): boolean {
  const parts = path.split('/');
  if (parts.length === 2) return true;
  return parts.length === depthOfDoor(moduleOf(path)) && DOORS.includes(parts.at(-1)!);
}

export const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));

export const ROLES = ['model', 'contract', 'rules', 'store', 'service'] as const;
export type Role = (typeof ROLES)[number];

/** The roles that each role may import in its room. */
export const ROLE_IMPORTS: Readonly<Record<Role, readonly Role[]>> = {
  model: ['model'],
  contract: ['contract', 'model'],
  rules: ['rules', 'model'],
  store: ['store', 'rules', 'model'],
  service: ['service', 'store', 'rules', 'contract', 'model'],
};

/** `store.ts` and `lists-store.ts` have the same role. */
export function roleOf(path: string): Role | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return ROLES.find((role) => name === `${role}.ts` || name.endsWith(`-${role}.ts`));
}
