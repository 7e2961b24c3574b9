import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { freePorts } from '../support/free-ports.js';
import type { Machine } from './machine.js';

const CONFIGURATION = 'opt/integration-service/prometheus/prometheus.yml';

/** What `/api/v1/query` says of a series. */
export interface Sample {
  metric: Record<string, string>;
  value: [at: number, value: string];
}

/** Prometheus on a machine, as if its package were installed there, and not yet started. */
export class Prometheus {
  private constructor(readonly address: string) {}

  static async on(machine: Machine, executable: string): Promise<Prometheus> {
    const [port] = await freePorts(1);
    const prometheus = new Prometheus(`127.0.0.1:${port}`);
    for (const folder of ['etc/prometheus', 'usr/bin']) {
      mkdirSync(machine.path(folder), { recursive: true });
    }
    symlinkSync(executable, machine.path('usr/bin/prometheus'));
    const started = `/usr/bin/prometheus --config.file=/etc/prometheus/prometheus.yml --storage.tsdb.path=/var/lib/prometheus --web.listen-address=${prometheus.address} --log.level=warn`;
    writeFileSync(machine.path('etc/systemd/system/prometheus.service'), `[Service]\nExecStart=${started}\n`);
    const shipped = readFileSync(machine.path(CONFIGURATION), 'utf8');
    const quick = shipped
      .replaceAll('_interval: 15s', '_interval: 1s')
      .replace('127.0.0.1:4003', new URL(machine.metricsUrl).host);
    writeFileSync(machine.path(CONFIGURATION), quick);
    return prometheus;
  }

  /** What its HTTP API answers. */
  // biome-ignore lint/suspicious/noExplicitAny: each path has its own answer.
  async ask(path: string, parameters: Record<string, string> = {}): Promise<any> {
    const answer = await fetch(`http://${this.address}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const { status, data, error } = (await answer.json()) as Record<string, unknown>;
    if (status !== 'success') {
      throw new Error(`Prometheus refuses ${path} ${JSON.stringify(parameters)}: ${error}`);
    }
    return data;
  }

  async query(expr: string): Promise<Sample[]> {
    return (await this.ask('query', { query: expr })).result;
  }

  /** The names of the alerts whose condition holds. Those with a delay fire only after it. */
  async raised(): Promise<string[]> {
    const { alerts } = await this.ask('alerts');
    return alerts.map(({ labels }: { labels: Record<string, string> }) => labels.alertname);
  }
}
