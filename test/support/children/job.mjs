// A process of its own that begins a job and never ends it: `node job.mjs <database>`. It says when its summariser is
// asked, which then hangs until the process is killed.
import { openCairn } from 'cairndb';

const [database] = process.argv.slice(2);
const summarizer = {
  name: 'hangs',
  summarize: () => {
    process.send({ asked: true });
    return new Promise(() => undefined);
  },
};
await openCairn({ database, summarizer });
process.send({ ready: true });
setInterval(() => undefined, 1000);
