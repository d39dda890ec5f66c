/**
 * How many violations a rule still has. A ceiling is never raised; whoever removes violations lowers it, and a rule
 * whose ceiling is 0 holds.
 */
export const CEILINGS = {
  /** Imports in src/ of another module that pass none of its doors. */
  deep_imports: 0,
  /** Imports in test/ of another module than the test's own that pass none of its doors. */
  deep_test_imports: 80,
  /** Role files that reach a role file of their room against the order. */
  role_order: 0,
  /** Folders of src/ with more than 20 files. */
  full_folders: 0,
  /** Functions, methods and function types with more than five parameters. */
  long_parameter_lists: 12,
  /** Paths in Markdown pages that lead to no file. */
  lost_doc_paths: 0,
  /** Bytes of README.md above 10 KB. */
  readme_bytes: 0,
  /** Bytes of ARCHITECTURE.md above 12 KB. */
  architecture_bytes: 0,
} as const;

const SHOWN = 20;

/** What a test compares with []: nothing as long as there are no more violations than the ceiling allows. */
export function above(ceiling: keyof typeof CEILINGS, violations: readonly string[]): string[] {
  const allowed = CEILINGS[ceiling];
  if (violations.length <= allowed) return [];
  const shown = violations.slice(0, SHOWN);
  const more = violations.length - shown.length;
  return [
    `${violations.length} violations, and the ceiling of ${ceiling} is ${allowed}`,
    ...shown,
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}
