// A process of its own: asks /health/live again and again, and tells the longest answer time when asked.
import { Agent, get } from 'node:http';

const url = `${process.argv[2]}/health/live`;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
let longest = 0;
let answers = 0;
let began = 0;

const ask = () =>
  new Promise((resolve) => {
    began = performance.now();
    get(url, { agent }, (answer) => {
      answer.resume();
      answer.on('end', () => {
        answers++;
        resolve();
      });
    }).on('error', resolve);
  });

process.on('message', (message) => {
  if (message !== 'longest') return;
  // One that is still unanswered counts as well.
  process.send({ longest_ms: Math.max(longest, performance.now() - began), answers });
  longest = 0;
  answers = 0;
  began = performance.now();
});
process.on('disconnect', () => process.exit());

for (;;) {
  await ask();
  longest = Math.max(longest, performance.now() - began);
  await new Promise((resolve) => setTimeout(resolve, 5));
}
