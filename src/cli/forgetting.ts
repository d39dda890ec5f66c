/** `cairn forget`: lists what would be erased, asks, and prints the receipt. */
import type { Command } from 'commander';
import { allOperations } from '../api/contract.js';
import type { Out } from '../engine/contract.js';
import { invalid } from '../kernel/index.js';
import { forgottenAccount, forgottenCounts, plannedItems } from '../maintenance/contract.js';
import { addFlags, callOperation } from './operations.js';
import { type Settings, withStore } from './settings.js';
import { grey, isConfirmed, plain, shorten } from './terminal.js';

type Receipt = Out<'memory.forget'>;
type Flags = Settings & Record<string, unknown> & { readonly json?: boolean; readonly yes?: boolean };

/** Characters of a text in one line. */
const MAX_SNIPPET = 100;

const total = (counts: Receipt['erased']): number => counts.reduce((sum, { entities }) => sum + entities, 0);

const inOneLine = (text: string): string => shorten(plain(text.replace(/\s+/g, ' ').trim()), MAX_SNIPPET);

/** Such as `note 0198…  2026-01-31  Anna prefers tea`, with the confidence of a candidate. */
function planLines(plan: Receipt): string[] {
  const candidates = new Map((plan.candidates ?? []).map((one) => [one.id, one]));
  const items = plannedItems(plan).map(({ what, id, origin, day, snippet }) => {
    const found = candidates.get(id);
    const said = found?.snippet ?? snippet;
    const parts = [
      what,
      ...(day === null ? [] : [day]),
      ...(found === undefined ? [] : [found.confidence.toFixed(2)]),
      ...(said === null ? [] : [inOneLine(said)]),
    ];
    return `${parts.join('  ')}${origin === 'named' ? '' : grey(`  ${origin}`)}`;
  });
  const more = total(plan.erased) + total(plan.derived) - items.length;
  return [...items, ...(more > 0 ? [`… and ${more} more`] : []), ...forgottenAccount(plan)];
}

function receiptLines(receipt: Receipt): string[] {
  return [
    `forgot ${forgottenCounts(receipt.erased) || 'nothing'} ${grey(`(${receipt.status})`)}`,
    ...forgottenAccount(receipt).filter((line) => line !== 'nothing to forget'),
    grey(`not covered: ${receipt.not_covered.join(', ')}`),
    `receipt ${receipt.erasure_id}`,
  ];
}

export function addForget(program: Command): void {
  const operation = allOperations.find(({ name }) => name === 'memory.forget')!;
  const command = withStore(program.command('forget').description(operation.summary)).argument(
    '[ids...]',
    'ids of what to forget',
  );
  const readFlags = addFlags(command, operation, ['ids']);
  command
    .option('--yes', 'do not ask')
    .option('--json', 'print the whole answer as JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ cairn forget 0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5e
  $ cairn forget --user alice
  $ cairn forget --query "where Lena lives" --dry-run`,
    );
  command.action(async (ids: string[]) => {
    const options = command.optsWithGlobals() as Flags;
    const { dry_run = false, ...given } = { ...readFlags(options), ...(ids.length > 0 ? { ids } : {}) } as {
      dry_run?: boolean;
      query?: string;
    };
    const call = async (input: Record<string, unknown>) => (await callOperation(operation, input, options)) as Receipt;
    const plan = await call({ ...given, dry_run: true });
    if (options.json && dry_run) return console.log(JSON.stringify(plan, null, 2));
    if (!options.json || !options.yes) console.error(planLines(plan).join('\n'));
    const count = total(plan.erased) + total(plan.derived);
    if (dry_run || count === 0) return;
    // A search finds more than was meant.
    if (given.query !== undefined)
      throw invalid('a query only finds candidates, and nothing was erased: forget those that you mean by their ids');
    if (!options.yes && !(await isConfirmed(`${count} will be erased, which cannot be undone`))) {
      console.error('nothing was changed');
      process.exitCode = 1;
      return;
    }
    const receipt = await call(given);
    console.log(options.json ? JSON.stringify(receipt, null, 2) : receiptLines(receipt).join('\n'));
  });
}
