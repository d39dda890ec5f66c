export interface TestPostgres {
  url(database?: string): string;
  restart(signal?: NodeJS.Signals): Promise<void>;
  end(signal: NodeJS.Signals): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}
export function startPostgres(folder?: string): Promise<TestPostgres>;
