/** Settings by flag or environment, shared by all commands; and the Api that they lead to. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { connectCairn } from '../client/index.js';
import { type Cairn, type Embedder, httpEmbedder, openCairn } from '../index.js';
import { CairnError } from '../model/errors.js';

export interface Settings {
  readonly database: string;
  readonly url?: string;
  readonly key?: string;
  readonly tenant?: string;
  readonly debug?: boolean;
}

export const DEFAULT_DATABASE = './cairn.db';

export const databaseOption = () =>
  new Option('-d, --database <file|url>', 'an SQLite file, or postgres://…')
    .env('CAIRN_DATABASE')
    .default(DEFAULT_DATABASE);

/** The flags of a command that works on a store, directly or through a server. */
export function withStore(command: Command): Command {
  return command
    .addOption(databaseOption())
    .addOption(new Option('--url <url>', 'talk to a server instead of opening the database').env('CAIRN_URL'))
    .addOption(new Option('--key <key>', 'the key for that server').env('CAIRN_KEY'))
    .addOption(
      new Option('--tenant <tenant>', 'whose memory (default: "default", or that of the key)').env(
        'CAIRN_TENANT',
      ),
    );
}

/** The embedder that the environment names; none if it names none. A key has no flag: a process list would show it. */
export function embedderOf(environment: NodeJS.ProcessEnv = process.env): { embedder?: Embedder } {
  const { CAIRN_EMBEDDER_URL: url, CAIRN_EMBEDDER_MODEL: model, CAIRN_EMBEDDER_KEY: key } = environment;
  if (!url && !model) return {};
  if (!url || !model)
    throw new CairnError(
      'INVALID_INPUT',
      `an embedder needs CAIRN_EMBEDDER_URL and CAIRN_EMBEDDER_MODEL: set the other one as well, or neither`,
    );
  return { embedder: httpEmbedder({ url, model, key: key || undefined }) };
}

export async function withApi<T>(settings: Settings, work: (cairn: Cairn) => Promise<T>): Promise<T> {
  const { url, key, tenant, database } = settings;
  const named = tenant === undefined ? {} : { tenant };
  const cairn =
    url === undefined
      ? await openCairn({ database, sweep_every_ms: 0, ...named, ...embedderOf() })
      : connectCairn({ url, ...(key === undefined ? {} : { key }), ...named });
  try {
    return await work(cairn);
  } finally {
    await cairn.close();
  }
}

export function wholeNumber(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < min || value > max)
      throw new InvalidArgumentError(`must be ${min} to ${max}.`);
    return value;
  };
}
