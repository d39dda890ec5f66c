/** JSON Pointers (RFC 6901): `/a/b~1c` is the member "b/c" of the member "a". */

export const pointerTo = (path: string, name: string | number): string =>
  `${path}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** The names along a path; undefined if it is malformed. */
export function pointerNames(path: string): string[] | undefined {
  if (path === '') return [];
  if (!path.startsWith('/') || /~(?![01])/.test(path)) return undefined;
  return path
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}
