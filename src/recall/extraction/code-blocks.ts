/** Code in a conversation: fenced blocks worth storing, with their language and file name. */
import { blocksOf } from '../../text/index.js';
import type { TextSource } from '../summaries/sources.js';
import type { ExtractedFact } from './extractor.js';

const MIN_LINES = 3;
/** For a definition in a named language. */
const MIN_LINES_DEFINED = 2;
/** For code without a file name or a definition. */
const MIN_LINES_UNNAMED = 8;
const MAX_LENGTH = 100_000;
/** Characters searched for a name. */
const MAX_NAME = 200;

/** Languages of program output. */
const OUTPUTS = new Set(
  'text txt plain plaintext console output log logs terminal session stdout stderr none'.split(' '),
);
const FILE = /(?:^|[\s("'`*:=/])((?:[\w@.-]+\/)*[\w@.-]*\w\.[A-Za-z][A-Za-z0-9]{0,7})(?=$|[\s)"'`*:,])/;
/** A first line that is a comment with only a file name. */
const FILE_COMMENT =
  /^\s*(?:\/\/|#|--|;|\/\*|<!--)\s*(?:file(?:name)?:\s*)?((?:[\w@.-]+\/)*[\w@.-]*\w\.[A-Za-z][A-Za-z0-9]{0,7})\s*(?:\*\/|-->)?\s*$/i;
const DEFINES =
  /^[ \t]*(?:export\s+)?(?:default\s+)?(?:pub(?:lic)?\s+)?(?:async\s+)?(?:function\*?|class|interface|def|fn|func|struct|enum|type|trait|module|CREATE TABLE(?: IF NOT EXISTS)?)\s+([A-Za-z_][\w.]*)/im;

/** Yields after each block, mostly undefined, so that the caller can give way. */
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
  const least = defined !== undefined && language !== undefined ? MIN_LINES_DEFINED : MIN_LINES;
  if (lines.length < least || content.length > MAX_LENGTH) return undefined;
  if (language !== undefined && OUTPUTS.has(language)) return undefined;
  const file = fileOf(info, lines[0]!, before);
  // Without any of these, code cannot be told from output.
  if (file === undefined && defined === undefined && (language === undefined || lines.length < MIN_LINES_UNNAMED))
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
  // "src/a.ts" after the fence is a file, whose extension is the language.
  if (word === undefined || FILE.test(info.split(/[\s:]/)[0]!))
    return /\.([A-Za-z]\w*)$/.exec(info)?.[1]?.toLowerCase();
  return word;
}

/** The file name after the fence, in a comment of the first line, or at the end of the introduction. */
function fileOf(info: string, first: string, before: string): string | undefined {
  const named = FILE.exec(info.replace(/^\w+:/, ''))?.[1] ?? FILE_COMMENT.exec(first.slice(0, MAX_NAME))?.[1];
  if (named !== undefined) return named;
  const lead = before.slice(-MAX_NAME);
  if (!/[:：]\s*\**$|^[`*]*[\w@./-]+[`*]*$/.test(lead)) return undefined;
  const files = [...lead.matchAll(new RegExp(FILE, 'g'))].map((found) => found[1]!);
  return files.length === 1 ? files[0] : undefined;
}
