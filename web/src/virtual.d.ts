declare module 'virtual:operations' {
  /** Method and path of every operation, by name. */
  export const operations: Readonly<Record<string, readonly [method: string, path: string]>>;
}
