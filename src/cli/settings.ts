/** Settings by flag or environment, shared by all commands; and the Api that they lead to. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Cairn, Embedder, ModelOptions, OpenOptions } from '../cairndb.js';
import { connectCairn } from '../client/index.js';
import { CairnError } from '../kernel/index.js';

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
    // A shell has done that; the settings of an editor have no shell.
    .argParser((text) => text.replace(/^~(?=\/)/, homedir()))
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

/** Loaded when it is needed: help, mistakes and commands to a server do without. */
const embedded = () => import('../cairndb.js');

/** The embedder that the environment names; none if it names none. A key has no flag: a process list would show it. */
export async function embedderOf(
  environment: NodeJS.ProcessEnv = process.env,
): Promise<{ embedder?: Embedder }> {
  const { CAIRN_EMBEDDER_URL: url, CAIRN_EMBEDDER_MODEL: model, CAIRN_EMBEDDER_KEY: key } = environment;
  if (!url && !model) return {};
  if (!url || !model)
    throw new CairnError(
      'INVALID_INPUT',
      `an embedder needs CAIRN_EMBEDDER_URL and CAIRN_EMBEDDER_MODEL: set the other one as well, or neither`,
    );
  const { httpEmbedder } = await embedded();
  return { embedder: httpEmbedder({ url, model, key: key || undefined }) };
}

/**
 * The model endpoint that summarises and extracts, if the environment names one. Not by flags: a key among those would be
 * seen by everyone on the machine.
 */
export function modelSettings(environment: NodeJS.ProcessEnv = process.env): { model?: ModelOptions } {
  const {
    CAIRN_MODEL_URL: base_url,
    CAIRN_MODEL: model,
    CAIRN_MODEL_KEY: api_key,
    CAIRN_MODEL_KIND: kind = 'openai-compatible',
  } = environment;
  if (!base_url && !model) return {};
  if (!base_url || !model)
    throw new CairnError(
      'INVALID_INPUT',
      'CAIRN_MODEL_URL and CAIRN_MODEL name a model together: set both, or neither',
    );
  return {
    model: { kind: kind as ModelOptions['kind'], base_url, model, ...(api_key ? { api_key } : {}) },
  };
}

/** The store, or the server in front of it; `opening` says more of how the store is opened. */
export async function openApi(
  { url, key, tenant, database }: Settings,
  opening: Omit<OpenOptions, 'database' | 'tenant'> = {},
): Promise<Cairn> {
  const named = tenant === undefined ? {} : { tenant };
  if (url !== undefined) return connectCairn({ url, ...(key === undefined ? {} : { key }), ...named });
  const { openCairn } = await embedded();
  return openCairn({ database, ...opening, ...named, ...modelSettings(), ...(await embedderOf()) });
}

/** Whoever only reads has mistyped the name of a file that is not there: to make one would say that all is gone. */
export function refuseMissing({ database, url }: Pick<Settings, 'database' | 'url'>): void {
  if (url !== undefined || /^postgres(ql)?:\/\//.test(database) || existsSync(database)) return;
  throw new CairnError(
    'STORAGE_FAILED',
    `there is no file ${database}: name another with --database, or begin one, say with \`cairn remember\``,
  );
}

export async function withApi<T>(
  settings: Settings,
  work: (cairn: Cairn) => Promise<T>,
  { reads = false } = {},
): Promise<T> {
  if (reads) refuseMissing(settings);
  const cairn = await openApi(settings, { sweep_every_ms: 0 });
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
