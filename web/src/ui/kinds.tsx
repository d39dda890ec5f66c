/** A colour and an icon per kind of memory, the same in every view. */
import {
  Bot,
  Box,
  CircleDot,
  CirclePause,
  Database,
  FileText,
  Flag,
  Forward,
  GitBranch,
  Layers,
  Link2,
  Lock,
  type LucideIcon,
  Mail,
  MessageSquare,
  NotebookPen,
  Play,
  Route,
  ScrollText,
  StickyNote,
} from 'lucide-react';
import type { CSSProperties, ReactNode } from 'react';
import { words } from '../data/format.js';

interface Look {
  readonly color: string;
  readonly icon: LucideIcon;
}

const looks: Readonly<Record<string, Look>> = {
  note: { color: 'note', icon: StickyNote },
  artifact: { color: 'artifact', icon: FileText },
  turn: { color: 'turn', icon: MessageSquare },
  summary: { color: 'summary', icon: ScrollText },
  card: { color: 'card', icon: CircleDot },
  box: { color: 'card', icon: Box },
  trajectory: { color: 'trajectory', icon: Route },
  scope: { color: 'scope', icon: Layers },
  execution: { color: 'execution', icon: Play },
  checkpoint: { color: 'execution', icon: Flag },
  branch: { color: 'execution', icon: GitBranch },
  agent: { color: 'agent', icon: Bot },
  agentturn: { color: 'agent', icon: Bot },
  delegation: { color: 'delegation', icon: Forward },
  handoff: { color: 'delegation', icon: Forward },
  message: { color: 'message', icon: Mail },
  lock: { color: 'lock', icon: Lock },
  pause: { color: 'lock', icon: CirclePause },
  edge: { color: 'card', icon: Link2 },
  context: { color: 'scope', icon: NotebookPen },
  manifest: { color: 'scope', icon: NotebookPen },
  packet: { color: 'packet', icon: CircleDot },
  store: { color: 'packet', icon: Database },
};

const lookOf = (kind: string): Look => looks[kind.replace(/[\s_]/g, '').toLowerCase()] ?? looks.packet!;

/** The colour of a kind as a value for `--c`. */
export const kindColor = (kind: string): string => `var(--kind-${lookOf(kind).color})`;

export const kindStyle = (kind: string): CSSProperties => ({ '--c': kindColor(kind) }) as CSSProperties;

export function KindIcon({ kind }: { kind: string }): ReactNode {
  const { icon: Icon } = lookOf(kind);
  return <Icon aria-hidden="true" style={{ color: kindColor(kind) }} />;
}

/** A chip with the kind, or with other words in the colour of the kind. */
export function Kind({ kind, children }: { kind: string; children?: ReactNode }): ReactNode {
  const { icon: Icon } = lookOf(kind);
  return (
    <span className="chip" style={kindStyle(kind)}>
      <Icon aria-hidden="true" />
      {children ?? words(kind)}
    </span>
  );
}

const good = /^(completed?|success|accepted|active|ready|granted|held|idle|verified|answered|clean|ok|done|final)$/i;
const warn =
  /^(running|inprogress|dispatched|pending|initiated|waiting|suspended|paused|open|partial|working|blocked|queued)$/i;
const bad = /^(failed|failure|error|rejected|expired|cancelled|stopped|timed_?out|offline|lost|revoked|overdue)$/i;

/** A state by its meaning: green ended well or works, amber is under way, red ended badly. */
export function Status({ status }: { status: string }): ReactNode {
  const tone = good.test(status) ? 'good' : warn.test(status) ? 'warn' : bad.test(status) ? 'bad' : 'plain';
  return <span className={`chip ${tone}`}>{words(status)}</span>;
}
