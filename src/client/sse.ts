/** Reads server-sent events from a response. */

export interface ServerEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void, undefined> {
  const decoder = new TextDecoder();
  // Pieces of the current frame, joined once it is complete: a large one arrives in many.
  let pieces: string[] = [];
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    const text = decoder.decode(chunk, { stream: true });
    const closes = text.startsWith('\n') && pieces.at(-1)?.endsWith('\n');
    if (text !== '') pieces.push(text);
    if (!closes && !text.includes('\n\n')) continue;
    const frames = pieces.join('').split('\n\n');
    const rest = frames.pop()!;
    pieces = rest === '' ? [] : [rest];
    for (const frame of frames) {
      const parsed = parse(frame);
      if (parsed) yield parsed;
    }
  }
}

function parse(frame: string): ServerEvent | undefined {
  let event = 'message';
  let id: string | undefined;
  const data: string[] = [];
  for (const line of frame.split('\n')) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const value = line.slice(colon + 1).replace(/^ /, '');
    if (line.startsWith('event')) event = value;
    else if (line.startsWith('id')) id = value;
    else if (line.startsWith('data')) data.push(value);
  }
  return data.length > 0 ? { event, id, data: data.join('\n') } : undefined;
}
