/** Code in a conversation: fenced blocks that are worth keeping, with their language and the name of their file. */
import { blocksOf } from '../../text/index.js';
import type { TextSource } from '../summaries/sources.js';
import type { ExtractedFact } from './extractor.js';

const MIN_LINES = 3;
/** Of what defines something, in a language that is named. */
const MIN_DEFINED = 2;
/** Of what neither has a file nor defines anything. */
const MIN_UNNAMED = 8;
const MAX_LENGTH = 100_000;
/** Where a name is looked for, so much is read. */
const MAX_NAME = 200;

/** What was printed, not written. */
const OUTPUTS = new Set(
  'text txt plain plaintext console output log logs terminal session stdout stderr none'.split(' '),
);
const FILE = /(?:^|[\s("'`*:=/])((?:[\w@.-]+\/)*[\w@.-]*\w\.[A-Za-z][A-Za-z0-9]{0,7})(?=$|[\s)"'`*:,])/;
/** A comment in the first line that has nothing but the name of a file. */
const FILE_COMMENT =
  /^\s*(?:\/\/|#|--|;|\/\*|<!--)\s*(?:file(?:name)?:\s*)?((?:[\w@.-]+\/)*[\w@.-]*\w\.[A-Za-z][A-Za-z0-9]{0,7})\s*(?:\*\/|-->)?\s*$/i;
const DEFINES =
  /^[ \t]*(?:export\s+)?(?:default\s+)?(?:pub(?:lic)?\s+)?(?:async\s+)?(?:function\*?|class|interface|def|fn|func|struct|enum|type|trait|module|CREATE TABLE(?: IF NOT EXISTS)?)\s+([A-Za-z_][\w.]*)/im;

/** After each block, so that who reads a long text can give way: what is worth keeping of it, mostly nothing. */
export function* codeOf(source: TextSource): Generator<ExtractedFact | undefined> {
  let before = '';
  for (const { kind, text, info } of blocksOf(source.text)) {
    const isCode = kind === 'code';
    yield isCode ? artifactOf(text, (info ?? '').slice(0, MAX_NAME), before, source.id) : undefined;
    before = isCode ? '' : text;
  }
}

function artifactOf(code: string, info: string, before: string, source_id: string): ExtractedFact | undefined {
  const content = code.trimEnd();
  const lines = content.split('\n').filter((line) => line.trim() !== '');
  const language = languageOf(info);
  const defined = DEFINES.exec(content)?.[1];
  const least = defined !== undefined && language !== undefined ? MIN_DEFINED : MIN_LINES;
  if (lines.length < least || content.length > MAX_LENGTH) return undefined;
  if (language !== undefined && OUTPUTS.has(language)) return undefined;
  const file = fileOf(info, lines[0]!, before);
  // Without any of these nothing tells a program from what one printed.
  if (file === undefined && defined === undefined && (language === undefined || lines.length < MIN_UNNAMED))
    return undefined;
  const name = file ?? (defined === undefined ? `${language} code` : `${defined}${language ? ` (${language})` : ''}`);
  return {
    kind: 'artifact',
    type: 'Code',
    title: name.slice(0, MAX_NAME),
    content,
    confidence: file === undefined ? 0.7 : 0.9,
    source_ids: [source_id],
    subject: name.toLowerCase(),
    slot: 'code',
    value: language ?? '',
    negated: false,
    ...(language === undefined ? {} : { language }),
  };
}

function languageOf(info: string): string | undefined {
  const word = /^\{?\.?([A-Za-z][\w+#-]*)/.exec(info)?.[1]?.toLowerCase();
  // "src/a.ts" behind the fence is a file, and has its language in its name.
  if (word === undefined || FILE.test(info.split(/[\s:]/)[0]!))
    return /\.([A-Za-z]\w*)$/.exec(info)?.[1]?.toLowerCase();
  return word;
}

/** Behind the fence, in a comment of the first line, or at the end of what introduces the block. */
function fileOf(info: string, first: string, before: string): string | undefined {
  const named = FILE.exec(info.replace(/^\w+:/, ''))?.[1] ?? FILE_COMMENT.exec(first.slice(0, MAX_NAME))?.[1];
  if (named !== undefined) return named;
  const lead = before.slice(-MAX_NAME);
  if (!/[:：]\s*\**$|^[`*]*[\w@./-]+[`*]*$/.test(lead)) return undefined;
  const files = [...lead.matchAll(new RegExp(FILE, 'g'))].map((found) => found[1]!);
  return files.length === 1 ? files[0] : undefined;
}
