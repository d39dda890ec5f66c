/** Metrics for Prometheus: requests by operation and status, their duration, and the figures of the store. */

const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

interface Times {
  readonly buckets: number[];
  sum: number;
  count: number;
}

export class Metrics {
  readonly #requests = new Map<string, number>();
  readonly #times = new Map<string, Times>();

  observe(operation: string, status: number, seconds: number): void {
    const key = `operation="${operation}",status="${status}"`;
    this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1);
    const times = this.#times.get(operation) ?? { buckets: BUCKETS_S.map(() => 0), sum: 0, count: 0 };
    this.#times.set(operation, times);
    times.sum += seconds;
    times.count++;
    const bucket = BUCKETS_S.findIndex((limit) => seconds <= limit);
    if (bucket >= 0) times.buckets[bucket]!++;
  }

  render(figures: Readonly<Record<string, number>>): string {
    const lines = ['# TYPE cairn_requests_total counter'];
    for (const [labels, count] of this.#requests) lines.push(`cairn_requests_total{${labels}} ${count}`);
    lines.push('# TYPE cairn_request_seconds histogram');
    for (const [operation, { buckets, sum, count }] of this.#times) {
      let below = 0;
      BUCKETS_S.forEach((limit, i) => {
        below += buckets[i]!;
        lines.push(`cairn_request_seconds_bucket{operation="${operation}",le="${limit}"} ${below}`);
      });
      lines.push(`cairn_request_seconds_bucket{operation="${operation}",le="+Inf"} ${count}`);
      lines.push(`cairn_request_seconds_sum{operation="${operation}"} ${sum}`);
      lines.push(`cairn_request_seconds_count{operation="${operation}"} ${count}`);
    }
    for (const [name, value] of Object.entries(figures))
      lines.push(`# TYPE cairn_${name} gauge`, `cairn_${name} ${value}`);
    return `${lines.join('\n')}\n`;
  }
}
