/** A client for TypeScript's language server: the hover text that an editor shows. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../support/run.js';

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

export interface LanguageServer {
  /** The hover text of the last word of `written`, at its first occurrence in the file. */
  hover(file: string, written: string): Promise<string>;
  close(): Promise<void>;
}

/** Splits a stream into messages by their Content-Length headers. */
function messageReader(receive: (message: Message) => void): (chunk: Buffer) => void {
  let received = Buffer.alloc(0);
  return (chunk) => {
    received = Buffer.concat([received, chunk]);
    for (;;) {
      const start = received.indexOf('\r\n\r\n') + 4;
      const length = /content-length: (\d+)/i.exec(received.subarray(0, start).toString())?.[1];
      if (start < 4 || length === undefined || received.length < start + Number(length)) return;
      const end = start + Number(length);
      receive(JSON.parse(received.subarray(start, end).toString()) as Message);
      received = received.subarray(end);
    }
  };
}

export async function startLanguageServer(): Promise<LanguageServer> {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  const child = spawn(process.execPath, [tsc, '--lsp', '--stdio'], { cwd: ROOT });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const waiting = new Map<number | string, (message: Message) => void>();
  const send = (message: Message) => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  };
  const receive = messageReader((message) => {
    if (message.id === undefined) return;
    // Requests of the server, such as for settings: none are set.
    if (message.method !== undefined) send({ id: message.id, result: null });
    else waiting.get(message.id)?.(message);
  });
  child.stdout.on('data', receive);
  let asked = 0;
  const ask = async (method: string, params?: unknown): Promise<unknown> => {
    const id = ++asked;
    const answered = new Promise<Message>((resolve) => waiting.set(id, resolve));
    send({ id, method, params });
    const gone = ended.then((): Message => ({ error: 'the server has ended' }));
    const { result, error } = await Promise.race([answered, gone]);
    if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
    return result;
  };
  await ask('initialize', {
    processId: process.pid,
    rootUri: pathToFileURL(ROOT).href,
    capabilities: { textDocument: { hover: { contentFormat: ['markdown'] } } },
  });
  send({ method: 'initialized', params: {} });
  const opened = new Map<string, string>();
  return {
    async hover(file, written) {
      const uri = pathToFileURL(file).href;
      if (!opened.has(file)) {
        opened.set(file, readFileSync(file, 'utf8'));
        const textDocument = { uri, languageId: 'typescript', version: 1, text: opened.get(file) };
        send({ method: 'textDocument/didOpen', params: { textDocument } });
      }
      const before = opened.get(file)!.split(written)[0]!.split('\n');
      const position = { line: before.length - 1, character: before.at(-1)!.length + written.length - 1 };
      const shown = await ask('textDocument/hover', { textDocument: { uri }, position });
      return (shown as { contents: { value: string } } | null)?.contents.value ?? '';
    },
    async close() {
      await ask('shutdown');
      send({ method: 'exit' });
      child.stdin.end();
      await ended;
    },
  };
}
