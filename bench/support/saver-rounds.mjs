// One thread of a thousand steps on two checkpointers at once: what putting, keeping and loading it takes on either.
// The sides take turns by slices of the thread, so that whatever else the machine does hits both alike.
import { median } from './measure.mjs';
import { seeded } from './seeded.mjs';
import { beginning, configOf, loadedText, put, stateOf } from './threads.mjs';

const THREAD = 'bench';
const SLICE = 50;
const TENTHS = 10;
const LOADS_OF_EACH = 3;

const inTurn = (names, round) => (round % 2 === 0 ? names : [...names].reverse());
const total = (values) => values.reduce((sum, value) => sum + value, 0);

async function timed(work) {
  const start = performance.now();
  const cpu = process.cpuUsage();
  const value = await work();
  const { user, system } = process.cpuUsage(cpu);
  return { ms: performance.now() - start, cpu_ms: (user + system) / 1000, value };
}

/**
 * Puts all states on each side; gives checkpoints a second over the whole thread and over its last slice, and what each
 * took of the CPU.
 */
export async function putRates(sides, states) {
  const names = Object.keys(sides);
  const spent = Object.fromEntries(names.map((name) => [name, { ms: 0, cpu_ms: 0, last_ms: 0 }]));
  const at = Object.fromEntries(names.map((name) => [name, beginning(THREAD)]));
  for (let from = 0; from < states.length; from += SLICE) {
    for (const name of inTurn(names, from / SLICE)) {
      const { ms, cpu_ms } = await timed(async () => {
        for (const state of states.slice(from, from + SLICE)) at[name] = await put(sides[name].saver, at[name], state);
      });
      spent[name].ms += ms;
      spent[name].last_ms = ms;
      spent[name].cpu_ms += cpu_ms;
    }
  }
  const each = (figure) => Object.fromEntries(names.map((name) => [name, figure(spent[name])]));
  const last = states.length % SLICE || SLICE;
  return {
    rate: each(({ ms }) => (states.length / ms) * 1000),
    lateRate: each(({ last_ms }) => (last / last_ms) * 1000),
    cpu: each(({ cpu_ms }) => cpu_ms / states.length),
  };
}

/**
 * Loads a checkpoint on each side so many times, in turn, and gives the median of each in milliseconds. Every
 * one must give what was put.
 */
async function loadTimes(sides, config, expected, times, saverOf = (side) => side.saver) {
  const names = Object.keys(sides);
  const spent = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < times; round++) {
    for (const name of inTurn(names, round)) {
      const saver = saverOf(sides[name]);
      const { ms, value } = await timed(() => saver.getTuple(config));
      spent[name].push(ms);
      if (loadedText(value) !== expected) throw new Error(`${name} loaded another state`);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(spent[name])]));
}

/** The latest, which is asked for without its id. */
export const loadLatest = (sides, states, times) =>
  loadTimes(sides, beginning(THREAD), loadedText(states.at(-1)), times);

/** The same by savers that have just been made, as at the start of a process. */
export const loadLatestAnew = (sides, states, times) =>
  loadTimes(sides, beginning(THREAD), loadedText(states.at(-1)), times, (side) => side.newSaver());

/** Loads a sample of all steps. For each tenth of the thread: what its sample took on each side, in milliseconds. */
export async function loadAny(sides, states, perTenth, seed) {
  const next = seeded(seed);
  const width = states.length / TENTHS;
  const tenths = [];
  for (let tenth = 0; tenth < TENTHS; tenth++) {
    const spent = [];
    for (let i = 0; i < perTenth; i++) {
      const state = states[tenth * width + (next() % width)];
      spent.push(await loadTimes(sides, configOf(THREAD, state), loadedText(state), LOADS_OF_EACH));
    }
    tenths.push(Object.fromEntries(Object.keys(sides).map((name) => [name, total(spent.map((each) => each[name]))])));
  }
  return tenths;
}

/** What a branch from a step of the thread, with another message, adds to the file. */
export async function branchBytes(side, states, step, message) {
  const before = await side.bytes();
  const { messages } = states[step].checkpoint.channel_values;
  await put(side.saver, configOf(THREAD, states[step]), stateOf([...messages, message]));
  return (await side.bytes()) - before;
}
