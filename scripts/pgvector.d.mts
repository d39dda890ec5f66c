export interface PgvectorServer {
  readonly url: string;
  query<R extends object>(text: string, values?: unknown[]): Promise<R[]>;
  stop(): Promise<void>;
}
export function startPgvector(): Promise<PgvectorServer>;
