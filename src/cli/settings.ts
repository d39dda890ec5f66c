/** Settings of commands, from flags and environment variables, and the Api they open. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Cairn, Embedder, ModelOptions, OpenOptions } from '../cairndb.js';
import { connectCairn } from '../client/index.js';
import { CairnError, invalid } from '../kernel/index.js';

export interface Settings {
  readonly database: string;
  readonly url?: string;
  readonly key?: string;
  readonly tenant?: string;
  readonly debug?: boolean;
}

/** Settings without a flag: some are keys, and every user of the machine can see command lines. */
export const environmentOnly = {
  CAIRN_MODEL_URL: {
    default: 'none, summaries and facts are made offline',
    sets: 'model endpoint for summaries and facts, such as http://127.0.0.1:11434/v1',
  },
  CAIRN_MODEL: { default: 'none', sets: 'name of the model' },
  CAIRN_MODEL_KEY: { default: 'none', sets: 'key for the model endpoint' },
  CAIRN_MODEL_KIND: {
    default: 'openai-compatible',
    sets: 'protocol of the model endpoint: openai-compatible or anthropic',
  },
  CAIRN_EMBEDDER_URL: {
    default: 'none, search uses terms only',
    sets: 'embedding endpoint, such as https://api.openai.com/v1',
  },
  CAIRN_EMBEDDER_MODEL: { default: 'none', sets: 'name of the embedding model' },
  CAIRN_EMBEDDER_KEY: { default: 'none', sets: 'key for the embedding endpoint' },
} as const;

type Environment = Readonly<Partial<Record<keyof typeof environmentOnly, string | undefined>>>;

export const environmentHelp = (prefix = ''): string =>
  Object.entries(environmentOnly)
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, { default: value, sets }]) => `  ${name.padEnd(20)}  ${sets} (default: ${value})`)
    .join('\n');

export const databaseOption = () =>
  new Option('-d, --database <file|url>', 'an SQLite file, or postgres://…')
    .env('CAIRN_DATABASE')
    // Editors start commands without a shell, which would have expanded the tilde.
    .argParser((text) => text.replace(/^~(?=\/)/, homedir()))
    .default('./cairn.db');

export const originsOption = () =>
  new Option(
    '--allowed-origins <list>',
    'origins of web pages that may open a WebSocket, such as https://app.example, separated by commas; local pages and those of the same host always may',
  )
    .env('CAIRN_ALLOWED_ORIGINS')
    .argParser((text) => text.split(',').map((one) => originIn(one.trim())));

function originIn(text: string): string {
  if (URL.canParse(text) && new URL(text).origin === text) return text;
  throw new InvalidArgumentError(`"${text}" must be an origin such as https://app.example.`);
}

/** The flags of a command that opens a store or connects to a server. */
export function withStore(command: Command): Command {
  return command
    .addOption(databaseOption())
    .addOption(new Option('--url <url>', 'connect to a server instead of opening the database').env('CAIRN_URL'))
    .addOption(new Option('--key <key>', 'key for that server').env('CAIRN_KEY'))
    .addOption(
      new Option('--tenant <tenant>', 'tenant (default: the tenant of the key, else "default")').env('CAIRN_TENANT'),
    );
}

/** Lazy import: help, wrong flags and commands with --url do not need it. */
const embedded = () => import('../cairndb.js');

export async function embedderOf(environment: Environment = process.env): Promise<{ embedder?: Embedder }> {
  const { CAIRN_EMBEDDER_URL: url, CAIRN_EMBEDDER_MODEL: model, CAIRN_EMBEDDER_KEY: key } = environment;
  if (!url && !model) return {};
  if (!url || !model)
    throw invalid('CAIRN_EMBEDDER_URL and CAIRN_EMBEDDER_MODEL must be set together: set both, or neither');
  const { httpEmbedder } = await embedded();
  return { embedder: httpEmbedder({ url, model, key: key || undefined }) };
}

export function modelSettings(environment: Environment = process.env): { model?: ModelOptions } {
  const {
    CAIRN_MODEL_URL: base_url,
    CAIRN_MODEL: model,
    CAIRN_MODEL_KEY: api_key,
    CAIRN_MODEL_KIND: kind = environmentOnly.CAIRN_MODEL_KIND.default,
  } = environment;
  if (!base_url && !model) return {};
  if (!base_url || !model) throw invalid('CAIRN_MODEL_URL and CAIRN_MODEL must be set together: set both, or neither');
  return { model: { kind: kind as ModelOptions['kind'], base_url, model, ...(api_key ? { api_key } : {}) } };
}

/** Opens the store with further options, or connects to the server. */
export async function openApi(
  { url, key, tenant, database }: Settings,
  opening: Omit<OpenOptions, 'database' | 'tenant'> = {},
): Promise<Cairn> {
  const named = tenant === undefined ? {} : { tenant };
  if (url !== undefined) return connectCairn({ url, ...(key === undefined ? {} : { key }), ...named });
  const { openCairn } = await embedded();
  return openCairn({ database, ...opening, ...named, ...modelSettings(), ...(await embedderOf()) });
}

/** Refuses to read from a file that does not exist: creating it would hide a mistyped name. */
function refuseMissing({ database, url }: Pick<Settings, 'database' | 'url'>): void {
  if (url !== undefined || /^postgres(ql)?:\/\//.test(database) || existsSync(database)) return;
  throw new CairnError(
    'STORAGE_FAILED',
    `there is no file ${database}: choose another with --database, or create it, for example with \`cairn remember\``,
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

export const wholeNumber =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!Number.isInteger(value) || value < min || value > max)
      throw new InvalidArgumentError(`It must be an integer from ${min} to ${max}.`);
    return value;
  };

/** A flag for a number, which is also read from the environment variable of its name. */
export const numberOption = (name: string, description: string, value: number, min: number, max: number): Option =>
  new Option(`--${name} <number>`, description)
    .env(`CAIRN_${name.toUpperCase().replaceAll('-', '_')}`)
    .default(value)
    .argParser(wholeNumber(min, max));
