/** Reads server-sent events from a response. */

export interface ServerEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

export async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerEvent, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    rest += decoder.decode(chunk, { stream: true });
    const frames = rest.split('\n\n');
    rest = frames.pop()!;
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
