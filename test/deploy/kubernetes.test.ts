import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { BlockList, isIPv4 } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { ownTokenOf, roleAuthenticator } from '../../src/cli/roles/role-tokens.js';
import { loadConfig } from '../../src/config/config.js';
import { packageRoot, packageVersion } from '../../src/config/package.js';
import { roleTokens } from '../../src/config/parsers.js';
import { SPECIAL_NETWORKS } from '../../src/delivery/address-guard.js';
import { searchAttributes } from '../../workflows/contract.js';
import { integration } from '../cli/typed.js';
import { blocksOf } from '../guides/guide-page.js';
import { newPostgresDatabase, type PostgresDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { freePorts } from '../support/free-ports.js';
import { newAuthority } from '../support/self-signed-certificate.js';
import { serviceProcesses } from '../support/service-process.js';
import { temporaryDirectories } from '../support/temporary-directory.js';
import { describeWith } from '../support/toolchains.js';
import { rulesIn } from './expressions.js';

const run = promisify(execFile);
const folder = join(packageRoot, 'deploy/kubernetes');
const ROLES = ['domain', 'edge', 'worker'] as const;
type Role = (typeof ROLES)[number];

/** Of a component that overlays may use. */
const EGRESS = 'egress/egress.yaml';

const textOf = (file: string) => readFileSync(join(folder, file), 'utf8');
// biome-ignore lint/suspicious/noExplicitAny: kubernetes-validate checks the shapes.
type Untyped = any;
const objectsIn = (file: string): Untyped[] =>
  parseAllDocuments(textOf(file)).map((document) => document.toJS());
const kustomization = parse(textOf('kustomization.yaml'));
const objects: Untyped[] = kustomization.resources.flatMap(objectsIn);
const ofKind = (kind: string) => objects.filter((object) => object.kind === kind);
const deploymentOf = (role: Role) =>
  ofKind('Deployment').find(({ metadata }) => metadata.name === `integration-${role}`);
const podOf = (role: Role) => deploymentOf(role).spec.template.spec;
const containerOf = (role: Role) => podOf(role).containers[0];

/** Where the secrets are mounted. */
const SECRETS = '/run/secrets/integration/';
const pathsOf = ({ items }: { items: { path: string }[] }) => items.map(({ path }) => `${SECRETS}${path}`);
const secretsOf = (role: Role): Untyped[] =>
  podOf(role).volumes.flatMap(({ projected }: Untyped) =>
    (projected?.sources ?? []).map(({ secret }: Untyped) => secret),
  );
const requiredOf = (role: Role) => secretsOf(role).filter(({ optional }) => !optional);
/** For other settings than those of the base. */
const optionalOf = (role: Role) => secretsOf(role).filter(({ optional }) => optional);
const installation = readFileSync(join(packageRoot, 'src/docs/operate/install.md'), 'utf8');

/** Operators put the token and a copy of the key file into a domain node. */
const mayWrite = (role: Role) => role === 'domain';

/** How long CoreDNS and the caches on machines keep an answer. */
const DNS_CACHE_MS = 30_000;
/** Of the names in DOMAIN_ADDRESS, as the page says. */
const LOOKUP_EVERY_MS = 5_000;

/** How long a node serves before it gets the signal to shut down. */
function hookMs(role: Role): number {
  const [, seconds = '0'] = containerOf(role).lifecycle?.preStop.exec.command ?? [];
  return Number(seconds) * 1_000;
}

/** The settings in the environment of a container, with this address for its pod. */
function environmentOf(role: Role, podAddress: string): Record<string, string> {
  const shared = textOf('settings.env').trim().split('\n');
  const own = containerOf(role).env as { name: string; value?: string }[];
  return {
    ...Object.fromEntries(shared.map((line) => line.split(/=(.*)/s).slice(0, 2))),
    ...Object.fromEntries(own.map(({ name, value }) => [name, value ?? podAddress])),
  };
}

describeWith('kubernetes-validate', 'the files for Kubernetes', (validate) => {
  const directory = temporaryDirectories();

  test('pass kubernetes-validate', async () => {
    const files = [...kustomization.resources, EGRESS].map((file) => join(folder, file));
    await expect(run(validate, ['--strict', '--quiet', ...files])).resolves.toMatchObject({ stdout: '' });
  });

  test('do not pass it with a misspelt field', async () => {
    const file = join(directory(), 'edge.yaml');
    writeFileSync(file, textOf('edge.yaml').replace('readOnlyRootFilesystem', 'readonlyRootFilesystem'));
    await expect(run(validate, ['--strict', '--quiet', file])).rejects.toThrow();
  });
});

test('the kustomization names every file, and the image of this release', () => {
  const others = ['kustomization.yaml', 'settings.env', 'egress'];
  expect([...kustomization.resources, ...others].sort()).toEqual(readdirSync(folder).sort());
  expect(kustomization.images).toEqual([{ name: 'integration-service', newTag: packageVersion }]);
});

describe.each(ROLES)('the nodes of role %s', (role) => {
  test('have a place to write only if they are domain nodes', () => {
    const written = podOf(role).volumes.filter(({ emptyDir }: Untyped) => emptyDir);
    expect(written.map(({ name }: Untyped) => name)).toEqual(mayWrite(role) ? ['data', 'temporary'] : []);
  });

  test('run without root, capabilities and a writable root', () => {
    const { image, args, securityContext } = containerOf(role);
    expect([image, args]).toEqual(['integration-service', [role]]);
    expect(podOf(role)).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  test('are restarted when they are not alive, and get calls when they are ready', () => {
    const { livenessProbe, readinessProbe, ports } = containerOf(role);
    expect(livenessProbe.httpGet).toEqual({ path: '/livez', port: 'metrics' });
    expect(readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'metrics' });
    const { METRICS_PORT } = loadConfig({});
    expect(ports).toContainEqual({ name: 'metrics', containerPort: METRICS_PORT });
  });

  test('are replaced and evicted one at a time, with time to finish their work', () => {
    const { strategy, selector, template } = deploymentOf(role).spec;
    expect(strategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
    const { DRAIN_DELAY, SHUTDOWN_GRACE } = loadConfig({ ENVIRONMENT: 'live' });
    const graceMs = template.spec.terminationGracePeriodSeconds * 1_000;
    expect(graceMs).toBeGreaterThan(hookMs(role) + Number(DRAIN_DELAY) + Number(SHUTDOWN_GRACE));
    const budget = ofKind('PodDisruptionBudget').find(
      ({ metadata }) => metadata.name === `integration-${role}`,
    );
    expect(budget.spec).toEqual({ maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow', selector });
    expect(template.metadata.labels).toEqual(selector.matchLabels);
  });

  test('get their secrets as files, and only their own', () => {
    const { projected } = podOf(role).volumes.find(({ name }: { name: string }) => name === 'secrets');
    const mounted = requiredOf(role).flatMap(pathsOf);
    const named = Object.values(environmentOf(role, '')).filter((value) => value.startsWith(SECRETS));
    expect(mounted.sort()).toEqual(named.sort());
    expect(projected.defaultMode).toBe(0o440);
  });

  test('have ports that services and network policies name', () => {
    const names = containerOf(role).ports.map(({ name }: { name: string }) => name);
    const { labels } = deploymentOf(role).spec.template.metadata;
    const services = ofKind('Service').filter(
      ({ spec }) => JSON.stringify(spec.selector) === JSON.stringify(labels),
    );
    const policies = ofKind('NetworkPolicy').filter(
      ({ metadata }) => metadata.name === `integration-${role}`,
    );
    const targets = services.flatMap(({ spec }) =>
      spec.ports.map(({ targetPort }: { targetPort: string }) => targetPort),
    );
    const allowed = policies.flatMap(({ spec }) =>
      spec.ingress.flatMap(({ ports }: { ports: { port: string }[] }) => ports.map(({ port }) => port)),
    );
    expect([...targets, 'metrics'].sort()).toEqual([...names].sort());
    expect(allowed.sort()).toEqual(targets.sort());
  });
});

test('a domain node serves until edges and workers know the one that replaces it', () => {
  expect(hookMs('domain')).toBeGreaterThan(DNS_CACHE_MS + LOOKUP_EVERY_MS);
});

test('a start may take as long as its probe allows', () => {
  const { progressDeadlineSeconds, template } = deploymentOf('domain').spec;
  const { periodSeconds, failureThreshold } = template.spec.containers[0].startupProbe;
  expect(progressDeadlineSeconds).toBeGreaterThan(periodSeconds * failureThreshold);
});

test('the authority and the replica of PostgreSQL and the credentials of Temporal have a place, and the page names each file', () => {
  const names = ROLES.map((role) => optionalOf(role).map(({ name }) => name));
  const ofDatabase = ['ca', 'direct', 'replica'].map((name) => `integration-database-${name}`);
  expect(names).toEqual([ofDatabase, [], ['integration-temporal']]);
  const paths = ROLES.flatMap(optionalOf).flatMap(pathsOf);
  expect(paths.filter((path) => !installation.includes(path))).toEqual([]);
});

describe('the network policies', () => {
  const ingressOf = (role: Role) =>
    ofKind('NetworkPolicy').find(({ metadata }) => metadata.name === `integration-${role}`).spec.ingress;

  test('let only the ingress controller reach the edge, and the settings trust no proxy by themselves', () => {
    expect(ingressOf('edge').map(({ from }: Untyped) => from)).toEqual([
      [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress-nginx' } } }],
    ]);
    expect(environmentOf('edge', '').TRUSTED_PROXIES).toBe('');
  });

  test('let pods call the gRPC port from this namespace, and from those with the label', () => {
    const matchLabels = { 'integration-service/calls-grpc': 'true' };
    const calls = ingressOf('domain').find(({ ports }: Untyped) => ports[0].port === 'grpc');
    expect(calls.from).toEqual([
      { podSelector: { matchLabels } },
      { namespaceSelector: { matchLabels }, podSelector: { matchLabels } },
    ]);
  });
});

describe('the component that limits what the nodes connect to', () => {
  const policies = objectsIn(EGRESS);
  const rulesFor = (role: Role): Untyped[] =>
    policies
      .filter(({ spec }) => JSON.stringify(spec.podSelector).includes(`"integration-${role}"`))
      .flatMap(({ spec }) => spec.egress);
  const portsFor = (role: Role) =>
    rulesFor(role).flatMap(({ ports }) => ports.map(({ port }: { port: number }) => port));
  const portIn = (address = '') => Number(address.split(':').at(-1));

  test('is whole', () => {
    expect(parse(textOf('egress/kustomization.yaml'))).toMatchObject({
      kind: 'Component',
      resources: ['egress.yaml'],
    });
    expect(readdirSync(join(folder, 'egress')).sort()).toEqual(['egress.yaml', 'kustomization.yaml']);
    expect(policies.map(({ spec }) => spec.policyTypes)).toEqual(policies.map(() => ['Egress']));
    expect(installation).toContain('- ../integration-service/deploy/kubernetes/egress\n');
  });

  test('lets each role reach what its settings name', () => {
    const { ROLES_ADDRESS, TEMPORAL_ADDRESS, DOMAIN_ADDRESS } = environmentOf('domain', '');
    const [domain, temporal] = [portIn(ROLES_ADDRESS), portIn(TEMPORAL_ADDRESS)];
    expect(portIn(DOMAIN_ADDRESS)).toBe(domain);
    expect(portsFor('edge')).toEqual([domain]);
    expect(portsFor('domain')).toEqual([5432, 6432, temporal]);
    expect(portsFor('worker')).toEqual([domain, temporal, ...loadConfig({}).WEBHOOK_ALLOWED_PORTS]);
  });

  test('lets workers send webhooks to the addresses that the sender takes for public', () => {
    const special = SPECIAL_NETWORKS.flatMap(({ blocks }) => blocks);
    const outer = special.filter((block) =>
      special.every((each) => each === block || !isInside(block, each)),
    );
    const allowed = rulesFor('worker').flatMap(({ to = [] }) => to.flatMap(({ ipBlock = [] }) => ipBlock));
    expect(allowed.map(({ cidr }) => cidr)).toEqual(['0.0.0.0/0', '2000::/3']);
    for (const { cidr, except } of allowed) {
      expect([...except].sort()).toEqual(outer.filter((block) => isInside(block, cidr)).sort());
    }
  });
});

function isInside(block: string, other: string): boolean {
  const [[address = '', prefix], [start = '', length]] = [block.split('/'), other.split('/')];
  const [family, otherFamily] = [address, start].map((each) => (isIPv4(each) ? 'ipv4' : 'ipv6'));
  const list = new BlockList();
  list.addSubnet(start, Number(length), otherFamily);
  return family === otherFamily && Number(prefix) >= Number(length) && list.check(address, family);
}

test('the steps on the page that replace a token leave no node with one that a domain refuses', async () => {
  const [old, next] = ['o'.repeat(40), 'n'.repeat(40)];
  const written = [...installation.matchAll(/^set_tokens "(.+)"$/gm)].map(([, content = '']) => content);
  const contents = ['$old', ...written].map((content) =>
    roleTokens(content.replace('$old', old).replace('$new', next)),
  );
  expect(written).toHaveLength(3);
  expect(contents.at(-1)?.map((token) => token.reveal())).toEqual([next]);
  for (const [index, later] of contents.slice(1).entries()) {
    const both = [contents[index], later];
    // Each node sees the new content at another time.
    for (const [sent, known] of [both, both.toReversed()]) {
      const authenticate = roleAuthenticator({ EDGE_TOKEN: known });
      expect(await authenticate(ownTokenOf({ EDGE_TOKEN: sent }, 'edge'))).toEqual({ caller: 'edge' });
    }
  }
});

test('the page makes the namespace, each secret with its keys, and what Temporal needs', () => {
  const commands = installation.replaceAll(' \\\n ', '');
  for (const { name, items } of ROLES.flatMap(requiredOf)) {
    const [, command = ''] = new RegExp(`create secret generic ${name} (.*)`).exec(commands) ?? [];
    for (const { key } of items) {
      expect(`${name}: ${command}`).toContain(`secrets/${key}`);
    }
  }
  expect(commands).toContain('kubectl create namespace integration\n');
  const attributes = Object.entries(searchAttributes).map(([name, type]) => `--name ${name} --type ${type}`);
  expect(commands).toContain(`search-attribute create --namespace live ${attributes.join(' ')}`);
});

test('the page on monitoring finds the port of each node by its labels, under the job that an alert names', () => {
  const page = readFileSync(join(packageRoot, 'src/docs/operate/monitoring.md'), 'utf8');
  const [block] = blocksOf(page).filter(({ language }) => language === 'yaml');
  const [job] = parse(block?.code ?? '').scrape_configs;
  expect(job.kubernetes_sd_configs).toEqual([{ role: 'pod', namespaces: { names: ['integration'] } }]);
  const [partOf] = Object.entries(kustomization.labels[0].pairs);
  const [{ source_labels, regex, action }, ended] = job.relabel_configs;
  // Kubernetes lists ended pods too, whose port would be a target that is down.
  expect(ended).toEqual({
    source_labels: ['__meta_kubernetes_pod_phase'],
    ...{ regex: 'Failed|Succeeded', action: 'drop' },
  });
  expect([source_labels, regex, action]).toEqual([
    [
      `__meta_kubernetes_pod_label_${partOf?.[0].replace(/\W/g, '_')}`,
      '__meta_kubernetes_pod_container_port_name',
    ],
    `${partOf?.[1]};metrics`,
    'keep',
  ]);
  const down = rulesIn('alerts.yml').find(({ alert }) => alert === 'ServiceDown');
  expect(down?.expr).toContain(`job="${job.job_name}"`);
});

describe('the settings of the nodes', () => {
  const directory = temporaryDirectories();
  const services = serviceProcesses();
  const databases: PostgresDatabase[] = [];
  afterAll(() => Promise.all(databases.map((database) => database.drop())));

  /** The secrets as files, and the path of their folder in place of the mounted one. */
  function mounted(databaseUrl: string) {
    const place = join(directory(), 'secrets');
    mkdirSync(place);
    const authority = newAuthority('the cluster');
    const { certificate, key } = authority.issue();
    const secrets = {
      'database-url': databaseUrl,
      'edge-token': 'e'.repeat(64),
      'relay-token': 'r'.repeat(64),
      'maintenance-token': 'm'.repeat(64),
      ...{ 'tls.crt': certificate, 'tls.key': key, 'ca.crt': authority.certificate },
    };
    for (const [name, content] of Object.entries(secrets)) {
      writeFileSync(join(place, name), content, { mode: 0o440 });
    }
    return (settings: Record<string, string>) =>
      Object.fromEntries(
        Object.entries(settings).map(([name, value]) => [name, value.replace(SECRETS, `${place}/`)]),
      );
  }

  test.each(ROLES)('are accepted in live, and no secret is among them: %s', (role) => {
    const inPlace = mounted('postgres://integration:p@db.example.com/integration?sslmode=verify-full');
    expect(loadConfig(inPlace(environmentOf(role, '10.0.3.4')))).toMatchObject({ ENVIRONMENT: 'live' });
    expect(textOf(`${role}.yaml`)).not.toMatch(/kind: Secret/);
  });

  test('are accepted with the addresses that the page has for pods with IPv6 only', () => {
    const inPlace = mounted('postgres://integration:p@db.example.com/integration?sslmode=verify-full');
    const other = Object.fromEntries(
      [...installation.matchAll(/`(\w+)=(\S*::\S*)`/g)].map(([, name = '', value = '']) => [name, value]),
    );
    expect(other).toEqual({ LISTEN_HOST: '::', ROLES_ADDRESS: '[::]:4005', GRPC_HOST: '::' });
    const ofDomain = inPlace({ ...environmentOf('domain', 'fd00::4'), ...other });
    expect(loadConfig(ofDomain)).toMatchObject(other);
    const { LISTEN_HOST = '' } = other;
    expect(loadConfig(inPlace({ ...environmentOf('edge', 'fd00::5'), LISTEN_HOST }))).toMatchObject({
      LISTEN_HOST,
      METRICS_HOST: 'fd00::5',
    });
  });

  test('are accepted with a replica, of which only the domain reads the address', () => {
    const inPlace = mounted('postgres://integration:p@db.example.com/integration?sslmode=verify-full');
    const [path = ''] = optionalOf('domain').slice(-1).flatMap(pathsOf);
    expect(installation).toContain(`\`DATABASE_REPLICA_URL_FILE=${path}\``);
    const settings = (role: Role) =>
      inPlace({ ...environmentOf(role, '10.0.3.4'), DATABASE_REPLICA_URL_FILE: path });
    const domain = settings('domain');
    expect(() => loadConfig(domain)).toThrow('DATABASE_REPLICA_URL_FILE names a file that');
    const url = 'postgres://u@replica/x?sslmode=verify-full';
    writeFileSync(domain.DATABASE_REPLICA_URL_FILE ?? '', url, { mode: 0o440 });
    expect(loadConfig(domain).DATABASE_REPLICA_URL?.reveal()).toBe(url);
    const edge = loadConfig(settings('edge'), { strict: true, secrets: ['EDGE_TOKEN'] });
    expect(edge.DATABASE_REPLICA_URL).toBeUndefined();
  });

  test('have a place for the address of PostgreSQL itself, where the other leads to a pooler', () => {
    const inPlace = mounted('postgres://u@pooler.example.com:6432/x?sslmode=verify-full');
    const path = `${SECRETS}database-direct-url`;
    expect(optionalOf('domain').flatMap(pathsOf)).toContain(path);
    const domain = inPlace({ ...environmentOf('domain', '10.0.3.4'), DATABASE_DIRECT_URL_FILE: path });
    const url = 'postgres://u@db.example.com/x?sslmode=verify-full';
    writeFileSync(domain.DATABASE_DIRECT_URL_FILE ?? '', url, { mode: 0o440 });
    expect(loadConfig(domain).DATABASE_DIRECT_URL?.reveal()).toBe(url);
  });

  /** A database with its first operator token, and the settings of a node here in place of its pod. */
  async function initialized() {
    const database = await newPostgresDatabase();
    databases.push(database);
    const inPlace = mounted(database.url);
    const { DATABASE_URL_FILE = '', SECRETS_KEY_FILE = '' } = inPlace(environmentOf('domain', ''));
    const made = await integration(['init'], { ENVIRONMENT: 'live', DATABASE_URL_FILE, SECRETS_KEY_FILE });
    expect([made.code, made.stderr]).toEqual([0, '']);
    const [roles] = await freePorts(1);
    const here = {
      ...{ METRICS_HOST: '127.0.0.1', GRPC_HOST: '127.0.0.1', ROLES_ADDRESS: `127.0.0.1:${roles}` },
      ...{ DOMAIN_ADDRESS: `dns:///localhost:${roles}`, TEMPORAL_ADDRESS: undefined },
    };
    return { inPlace, here, token: tokenIn(made.stdout) };
  }

  const tokenIn = (printed: string) => /\w+_live_\w{48}/.exec(printed)?.[0] ?? '';

  test('are enough for nodes that serve: edge and worker find the domain', async () => {
    const { inPlace, here } = await initialized();
    for (const role of ROLES) {
      const own = inPlace(environmentOf(role, ''));
      const { ROLES_ADDRESS, ...others } = here;
      const env = { ...own, ...others, ...(role === 'domain' && { ROLES_ADDRESS }) };
      const node = await services.start({ command: role, env });
      expect(existsSync(node.settings.DATA_DIR ?? '')).toBe(false);
      const checks = role === 'domain' ? { database: { ok: true } } : { domain: { ok: true } };
      expect(await node.readiness()).toMatchObject({ checks });
    }
  });

  test('let an operator in the container replace the encryption key, although its mount is read-only', async () => {
    const { inPlace, here, token } = await initialized();
    const env = { ...inPlace(environmentOf('domain', '')), ...here };
    const domain = await services.start({ command: 'domain', env });
    const { SECRETS_KEY_FILE: mount = '', INTEGRATION_CA = '', GRPC_PORT } = domain.settings;
    const place = directory();
    const copy = join(place, 'secrets.key');
    const tokenFile = join(place, 'token');
    copyFileSync(mount, copy);
    const typed = (...args: string[]) =>
      integration(args, {
        ...{ ENVIRONMENT: 'live', SECRETS_KEY_FILE: copy, INTEGRATION_TOKEN_FILE: tokenFile },
        ...{ INTEGRATION_ADDRESS: `localhost:${GRPC_PORT}`, INTEGRATION_CA },
      });
    writeFileSync(tokenFile, token, { mode: 0o600 });
    const custodian = ['--role', 'key-custodian', '--label', 'Rotation', '--expires', '8h'];
    const issued = await typed('token', 'create', ...custodian);
    writeFileSync(tokenFile, tokenIn(issued.stdout));

    const before = readFileSync(mount, 'utf8');
    const added = await typed('encryption-key', 'rotate', '--wait', '1s');
    expect([added.code, added.stderr]).toEqual([1, expect.stringContaining('run this command again')]);
    expect(readFileSync(mount, 'utf8')).toBe(before);

    copyFileSync(copy, mount);
    expect(await typed('encryption-key', 'rotate', '--wait', '5m')).toMatchObject({ code: 0 });
    const [old = ''] = /ek_\w+/.exec(before) ?? [];
    await eventually('the end of the old key', async () => {
      const { code } = await typed('encryption-key', 'retire', old);
      return code === 0 || undefined;
    });
    expect(readFileSync(copy, 'utf8')).not.toContain(old);
  });
});
