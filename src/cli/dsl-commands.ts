/** `cairn dsl validate|format|plan|apply|export`: sources as files, plans as lines. */
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import type { Cairn } from '../api/index.js';
import { KIND_NAMES } from '../dsl/contract.js';
import type { Out } from '../engine/contract.js';
import { CairnError, invalid, withCommas } from '../kernel/index.js';
import type { OwnCommand } from './file-commands.js';
import { type Settings, withApi, withStore } from './settings.js';
import { mistakeLines } from './source-mistakes.js';
import { color, grey, isConfirmed, plain, shorten } from './terminal.js';

export const dslCommands: readonly OwnCommand[] = [
  { group: 'dsl', verb: 'validate', add: addValidate },
  { group: 'dsl', verb: 'format', add: addFormat },
  { group: 'dsl', verb: 'plan', add: addPlan },
  { group: 'dsl', verb: 'apply', add: addApply },
  { group: 'dsl', verb: 'export', add: addExport },
];

/** On demand, so that help and usage errors do not load the store. */
const language = () => import('../dsl/index.js');

interface Source {
  /** As in messages. */
  readonly file: string;
  readonly is_stdin: boolean;
  readonly text: string;
}

/** A character of UTF-16 has at most three bytes in UTF-8, and a mark may come before the first. */
const bytesOf = (characters: number): number => 3 * (characters + 1);

/** The bytes of a file, or of stdin, up to one more than a source may have: what follows need not end. */
async function readBytes(file: string, name: string, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of file === '-' ? process.stdin : createReadStream(file)) {
      chunks.push(chunk as Buffer);
      length += (chunk as Buffer).length;
      if (length > limit) break;
    }
    return Buffer.concat(chunks);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw invalid(`${plain(name)} cannot be read: ${(code && REASONS[code]) ?? plain(message)}`);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EISDIR: 'it is a folder',
  EACCES: 'permission is denied',
};

const tooLong = (name: string, limit: number): CairnError =>
  invalid(`${plain(name)} is longer than ${withCommas(limit)} characters: split it`);

async function readSource(file: string): Promise<Source> {
  const { MAX_SOURCE } = await language();
  const is_stdin = file === '-';
  const name = is_stdin ? 'stdin' : file;
  const bytes = await readBytes(file, name, bytesOf(MAX_SOURCE));
  if (bytes.length > bytesOf(MAX_SOURCE)) throw tooLong(name, MAX_SOURCE);
  let text: string;
  try {
    // The mark at the beginning stays: the language accepts it, and `format` removes it.
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalid(`${plain(name)} is not UTF-8: save it in this encoding`);
  }
  if (text.trim() === '')
    throw invalid(`${plain(name)} is empty: write a definition, such as agent Coder { capabilities: [code] }`);
  if (text.length > MAX_SOURCE) throw tooLong(name, MAX_SOURCE);
  return { file: name, is_stdin, text };
}

const sourcesOf = (files: readonly string[]): readonly string[] => (files.length === 0 ? ['-'] : files);

type Examined = Awaited<ReturnType<Awaited<ReturnType<typeof language>>['examineSource']>>;

/** Prints mistakes and sets the exit code; false if there are none. */
function report({ file, text }: Source, mistakes: Examined['mistakes']): boolean {
  if (mistakes.length === 0) return false;
  const isTerminal = process.stderr.isTTY === true;
  console.error(mistakeLines(file, text, mistakes, isTerminal).join('\n'));
  process.exitCode = 1;
  return true;
}

/** Reports a file that cannot be read, so that the others are checked as well. */
async function unlessUnreadable(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof CairnError)) throw error;
    console.error(`cairn: ${error.message} (${error.code})`);
    process.exitCode = 1;
  }
}

const FILES = 'files with sources; - or none: stdin';

function addValidate(command: Command): void {
  command
    .description('Check sources: syntax, fields, values, references and cycles. Needs no store.')
    .argument('[files...]', FILES)
    .addHelpText('after', '\nExamples:\n  $ cairn dsl validate team.cairn\n  $ cairn dsl export | cairn dsl validate')
    .action(async (files: string[]) => {
      for (const file of sourcesOf(files))
        await unlessUnreadable(async () => {
          const source = await readSource(file);
          const { mistakes, definitions } = await (await language()).examineSource(source.text);
          if (!report(source, mistakes)) console.log(`${plain(source.file)}: valid, ${definitions} definition(s)`);
        });
    });
}

function addFormat(command: Command): void {
  command
    .description('Write sources in their canonical form, with their comments. Needs no store.')
    .argument('[files...]', FILES)
    .addOption(new Option('--write', 'change the files themselves').conflicts('check'))
    .option('--check', 'print the names of files that are not in canonical form, and exit with 1')
    .addHelpText('after', '\nExamples:\n  $ cairn dsl format --write team.cairn\n  $ cairn dsl format < team.cairn')
    .action(async (files: string[], options: { write?: boolean; check?: boolean }) => {
      for (const file of sourcesOf(files)) await unlessUnreadable(() => formatFile(file, options));
    });
}

async function formatFile(file: string, { write, check }: { write?: boolean; check?: boolean }): Promise<void> {
  if (write && file === '-') throw invalid('--write needs a file: stdin cannot be changed');
  const source = await readSource(file);
  const { mistakes, formatted } = await (await language()).formatSource(source.text);
  if (report(source, mistakes)) return;
  if (!write && !check) return void process.stdout.write(formatted);
  if (formatted === source.text) return;
  console.log(plain(source.file));
  if (check) process.exitCode = 1;
  else await writeFile(file, formatted);
}

type Plan = Out<'dsl.plan'>;
type PlannedChange = Plan['changes'][number];

const SIGNS = { create: ['+', 32], update: ['~', 33], delete: ['-', 31], unchanged: [' ', 90] } as const;
const MAX_VALUE = 120;

const titleOf = ({ kind, name }: Pick<PlannedChange, 'kind' | 'name'>): string =>
  plain(kind === 'settings' ? kind : `${kind} ${name}`);

const valueText = (value: unknown): string => plain(shorten(JSON.stringify(value), MAX_VALUE));

/** Definitions that change, the fields of each, and the counts. */
function planLines({ changes, counts }: Pick<Plan, 'changes' | 'counts'>): string[] {
  const lines = changes
    .filter(({ action }) => action !== 'unchanged')
    .flatMap((change) => {
      const [sign, code] = SIGNS[change.action];
      return [
        color(code, `${sign} ${titleOf(change)}`),
        ...change.fields.map(({ field, before, after }) =>
          grey(`    ${plain(field)}: ${valueText(before)} → ${valueText(after)}`),
        ),
      ];
    });
  const { create, update, unchanged, delete: deleted } = counts;
  return [...lines, `${create} to create, ${update} to change, ${deleted} to delete, ${unchanged} unchanged`];
}

interface PlanFlags extends Settings {
  readonly prune?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

const withPlan = (command: Command): Command =>
  withStore(command)
    .argument('[file]', 'file with the source; - or none: stdin', '-')
    .option('--prune', 'also delete what the source does not define, which cannot be undone')
    .option('--json', 'print the whole answer as JSON');

/** The source of a command, unless it has mistakes. */
async function checkedSource(file: string): Promise<Source | undefined> {
  const source = await readSource(file);
  const { mistakes } = await (await language()).examineSource(source.text);
  return report(source, mistakes) ? undefined : source;
}

const planRequest = ({ text }: Source, { prune }: PlanFlags) => ({ source: text, prune: prune === true });

function addPlan(command: Command): void {
  withPlan(command.description('Show what applying a source would create, change, leave alone and delete.'))
    .addHelpText('after', '\nExamples:\n  $ cairn dsl plan team.cairn\n  $ cairn dsl plan team.cairn --prune')
    .action(async (file: string, options: PlanFlags) => {
      const source = await checkedSource(file);
      if (!source) return;
      const plan = await withApi(options, (cairn) => cairn.dsl.plan(planRequest(source, options)), { reads: true });
      console.log(options.json ? JSON.stringify(plan, null, 2) : planLines(plan).join('\n'));
    });
}

function addApply(command: Command): void {
  withPlan(command.description('Create and change what a source defines, in one transaction.'))
    .option('--yes', 'delete without asking, with --prune')
    .addHelpText('after', '\nExamples:\n  $ cairn dsl apply team.cairn\n  $ cairn dsl apply team.cairn --prune --yes')
    .action(async (file: string, options: PlanFlags) => {
      const source = await checkedSource(file);
      if (source) await withApi(options, (cairn) => applySource(cairn, source, options));
    });
}

/** Applies the plan that was shown: if the tenant has changed since, the store refuses. */
async function applySource(cairn: Cairn, source: Source, options: PlanFlags): Promise<void> {
  const request = planRequest(source, options);
  const plan = await cairn.dsl.plan(request);
  const asks = plan.counts.delete > 0 && !options.yes;
  // What will be deleted is shown before the question, and beside the JSON.
  if (!options.json) console.log(planLines(plan).join('\n'));
  else if (asks) console.error(planLines(plan).join('\n'));
  const deletes = `${plan.counts.delete} definition(s) will be deleted or unregistered, which cannot be undone`;
  if (asks && !(await isConfirmed(deletes, source.is_stdin))) {
    console.error('nothing was changed');
    process.exitCode = 1;
    return;
  }
  const applied = await cairn.dsl.apply({ ...request, plan_hash: plan.plan_hash });
  if (options.json) return console.log(JSON.stringify(applied, null, 2));
  const { create, update, delete: deleted } = applied.counts;
  console.log(create + update + deleted === 0 ? 'nothing to do' : 'applied');
}

function addExport(command: Command): void {
  withStore(command.description('Write what the tenant has as a source.'))
    .option('--out <file>', 'file to write to (default: stdout)')
    .addOption(new Option('--kind <kind>', 'only definitions of this kind (default: all)').choices(KIND_NAMES))
    .addHelpText(
      'after',
      '\nExamples:\n  $ cairn dsl export --out team.cairn\n  $ cairn dsl export --kind agent\n  $ cairn dsl export | cairn dsl apply --database ./other.db',
    )
    .action(async (options: Settings & { out?: string; kind?: PlannedChange['kind'] }) => {
      const input = options.kind ? { kind: options.kind } : {};
      const { source, definitions, left_out } = await withApi(options, (cairn) => cairn.dsl.export(input), {
        reads: true,
      });
      for (const { kind, name, reason } of left_out) console.error(`left out: ${plain(`${kind} ${name}: ${reason}`)}`);
      if (options.out === undefined) return void process.stdout.write(source);
      await writeFile(options.out, source);
      console.log(`${plain(options.out)}: ${definitions} definition(s)`);
    });
}
