// Formats generated TypeScript: names, literals, values and doc comments.

const WIDTH = 110;

export const pascal = (name) => name.replace(/(?:^|_)([a-z\d])/g, (_, letter) => letter.toUpperCase());

export const camel = (name) => name[0].toLowerCase() + name.slice(1);

/** Singular of the plural nouns in the table. */
export const singular = (name) =>
  /(?:ss|us|is)$/.test(name) ? name : name.replace(/ies$/, 'y').replace(/xes$/, 'x').replace(/s$/, '');

/** A literal, in single quotes. */
export const literal = (value) =>
  typeof value === 'string'
    ? `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
    : String(value);

export const key = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name));

/** A JSON value as code, on one line if it fits. */
export function code(value, indent = '') {
  if (typeof value !== 'object' || value === null) return literal(value);
  const inner = `${indent}  `;
  const [open, close, parts] = Array.isArray(value)
    ? ['[', ']', value.map((one) => code(one, inner))]
    : ['{', '}', Object.entries(value).map(([name, one]) => `${key(name)}: ${code(one, inner)}`)];
  if (parts.length === 0) return open + close;
  const line = open === '[' ? `[${parts.join(', ')}]` : `{ ${parts.join(', ')} }`;
  if (line.length + indent.length < 80 && !line.includes('\n')) return line;
  return `${open}\n${parts.map((part) => `${inner}${part},\n`).join('')}${indent}${close}`;
}

export const indented = (text) => text.replace(/^(?=.)/gm, '  ');

export const sentence = (text) => (/[.!?…]$/.test(text) ? text : `${text}.`);

function wrapped(text, width) {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + word.length < width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** A doc comment: paragraphs, then an example. */
export function comment(paragraphs, { example, indent = '' } = {}) {
  const lines = paragraphs.flatMap((text, i) => [...(i > 0 ? [''] : []), ...wrapped(text, WIDTH - 3 - indent.length)]);
  if (example !== undefined) lines.push('', '@example', '```ts', ...example.split('\n'), '```');
  if (lines.length === 0) return '';
  const safe = lines.map((line) => line.replaceAll('*/', '*\\/'));
  if (safe.length === 1 && safe[0].length + indent.length + 7 <= WIDTH) return `${indent}/** ${safe[0]} */\n`;
  return `${indent}/**\n${safe.map((line) => `${`${indent} * ${line}`.trimEnd()}\n`).join('')}${indent} */\n`;
}
