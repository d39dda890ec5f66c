/** fetch with a limit on the answer: a longer answer fails, and its connection is closed. */
import { modelFailure } from './model-failure.js';

const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

export const boundedFetch: typeof fetch = async (input, init) => {
  // Refuses redirects: they would send the key to another host.
  const response = await fetch(input, { ...init, redirect: 'error' });
  const { body, status, statusText, headers } = response;
  if (!body) return response;
  let bytes = 0;
  const counted = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes <= MAX_ANSWER_BYTES) controller.enqueue(chunk);
        else controller.error(modelFailure('nonsense', `answered with more than ${MAX_ANSWER_BYTES} bytes`));
      },
    }),
  );
  return new Response(counted, { status, statusText, headers });
};
