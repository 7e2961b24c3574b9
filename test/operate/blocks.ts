import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/package.js';
import { blocksOf } from '../guides/guide-page.js';

const folder = join(packageRoot, 'src/docs/operate');

/** A block of a page, by how it begins. */
export type Printed = readonly [page: string, begins: string];

const AS_AUDITOR = 'export INTEGRATION_TOKEN_FILE=/etc/integration-service/auditor.token\n';

/** From an empty machine to a restored backup: `walk.test.ts` types each of these. */
export const inWalk = {
  unpack: ['install', 'tar -xzf integration-service-1.4.0'],
  init: ['install', 'integration config check --offline\nintegration init'],
  saveToken: ['install', 'install -m 600 /dev/stdin /etc/integration-service/operator.token'],
  start: ['install', 'systemctl enable --now'],
  check: ['check-the-installation', 'integration config check'],
  doctor: ['check-the-installation', 'integration doctor'],
  contact: ['expiry-warnings', 'integration integration create'],
  backupFolder: ['back-up-and-restore', 'install -d -m 700 -o integration-service -g'],
  backup: ['back-up-and-restore', 'integration backup /var/backups/integration-service/monday'],
  backupWithKey: ['back-up-and-restore', 'install -m 400'],
  rotateApiKey: ['rotate-keys', 'integration key list'],
  rotateWebhookSecret: ['rotate-keys', 'integration subscription list'],
  rotateClientSecret: ['rotate-keys', 'integration app list'],
  rotateToken: ['rotate-keys', 'integration token list'],
  saveNextToken: ['rotate-keys', 'install -m 600 /dev/stdin /etc/integration-service/operator.token'],
  issueCustodianToken: ['rotate-keys', 'integration token create --role key-custodian'],
  becomeCustodian: ['rotate-keys', 'install -m 600 /dev/stdin /etc/integration-service/key-custodian.token'],
  rotateSigningKeys: ['rotate-keys', 'integration signing-key rotate'],
  rotateEncryptionKey: ['rotate-keys', 'integration encryption-key rotate'],
  retireEncryptionKey: ['rotate-keys', 'integration encryption-key retire'],
  becomeOperator: ['rotate-keys', 'export INTEGRATION_TOKEN_FILE'],
  searchAudit: ['audit-log', 'integration audit list'],
  issueAuditorToken: ['audit-log', 'integration token create --role auditor'],
  becomeAuditor: ['audit-log', 'install -m 600 /dev/stdin /etc/integration-service/auditor.token'],
  exportAudit: ['audit-log', `${AS_AUDITOR}integration audit export`],
  verifyAudit: ['audit-log', 'integration audit verify\n'],
  storeFindings: ['audit-log', `${AS_AUDITOR}integration audit verify`],
  verifyAfterBreak: ['audit-log', 'integration audit verify --known'],
  expiring: ['expiry-warnings', 'integration expiring --within 30d'],
  backupBeforeUpgrade: ['upgrade', 'integration backup'],
  upgrade: ['install', 'tar -xzf integration-service-1.5.0'],
  wayBack: ['upgrade', 'ln -sfn /opt/integration-service-1.4.0'],
  listOfValid: ['back-up-and-restore', 'integration revocations'],
  restore: [
    'back-up-and-restore',
    'systemctl stop integration-service@serve\nmv /var/lib/integration-service/live /var/lib/integration-service/live.damaged',
  ],
  restoreWithoutList: [
    'back-up-and-restore',
    'systemctl stop integration-service@serve\nmv /var/lib/integration-service/live /var/lib/integration-service/live.lost',
  ],
  resume: ['back-up-and-restore', 'integration resume --all service_token'],
  replay: ['back-up-and-restore', 'integration resume --all subscription'],
} as const satisfies Record<string, Printed>;

/** Alerts and their runbooks: `alerts.test.ts` types each of these, and of the walk those that install. */
export const inAlerts = {
  remote: ['check-the-installation', 'export INTEGRATION_ADDRESS'],
  readiness: ['runbooks', 'curl -s http://127.0.0.1:4003/readyz\n'],
  replaceCertificate: ['runbooks', 'cd /etc/integration-service/tls'],
  certificateMetric: ['runbooks', 'curl -s http://127.0.0.1:4003/metrics'],
  writesRefused: ['runbooks', 'curl -s http://127.0.0.1:4003/readyz/domain'],
  exhausted: ['runbooks', 'integration delivery list'],
  sendAgain: ['runbooks', 'integration subscription test'],
  checkRules: ['monitoring', 'promtool check rules'],
} as const satisfies Record<string, Printed>;

/** A Prometheus that reads the service: `prometheus.test.ts` types each of these. */
export const inPrometheus = {
  install: ['monitoring', 'install -m 644 /opt/integration-service/prometheus'],
  ask: ['monitoring', 'promtool query instant'],
  whatExpires: ['runbooks', 'integration expiring'],
  replaceKey: ['runbooks', 'integration key rotate'],
  revokeKey: ['runbooks', 'integration key revoke'],
} as const satisfies Record<string, Printed>;

/** In `install.test.ts`. */
export const inInstallation = {
  storeSecret: ['install', 'install -D -m 644 /opt/integration-service/systemd/credentials.conf'],
  storeCertificates: ['install', 'install -d -m 755 /etc/integration-service/tls'],
  makeRoleTokens: ['install', 'install -d -m 700 -o integration-service -g integration-service /etc'],
  copyKeyFile: ['install', 'integration config check --offline --role domain\ninstall -d'],
} as const satisfies Record<string, Printed>;

/** From SQLite to PostgreSQL and back, in `move.test.ts`. */
export const inMove = {
  storeAddress: ['move-to-postgresql', 'install -d -m 700 /etc/integration-service/credentials'],
  move: ['move-to-postgresql', 'systemctl stop integration-service@serve\nintegration migrate-store'],
  start: ['move-to-postgresql', 'install -D -m 644'],
  giveUp: ['move-to-postgresql', 'rm /etc/integration-service/credentials/database-url'],
  wayBack: ['move-to-postgresql', 'systemctl stop integration-service@serve\nrm '],
} as const satisfies Record<string, Printed>;

/** The upgrade of an installation of 1.3.1, in `from-1.3.1.test.ts`. */
export const inFrom131 = {
  copyFiles: ['upgrade', 'old=/var/lib/integration'],
  start: ['upgrade', 'integration config check &&\n  systemctl enable'],
} as const satisfies Record<string, Printed>;

export const NOT_TYPED: readonly (readonly [...Printed, why: string])[] = [
  [
    'requests-of-people',
    'integration account show ada@example.com\nintegration user show',
    '`../cli/commands/operator/directory/directory.test.ts` types these commands',
  ],
  [
    'requests-of-people',
    'integration account show ada@example.com\nintegration call',
    '`../cli/commands/operator/directory/directory.test.ts` types these commands',
  ],
  ['install', 'cd deploy/docker', 'needs Docker; `../deploy/containers.test.ts` types the first commands'],
  ['install', 'install -d -m 700 /var/backups', 'needs Docker; `../deploy/dumps.test.ts` plays it'],
  ['install', 'docker compose run', 'needs Docker; `../deploy/dumps.test.ts` plays it'],
  ['install', 'dump=$(ls', 'needs Docker; `../deploy/dumps.test.ts` plays it'],
  ['install', 'docker compose exec -T postgres', 'needs Docker; `../deploy/dumps.test.ts` plays it'],
  [
    'install',
    'docker compose exec -T integration',
    'needs Docker; `../deploy/containers.test.ts` compares it',
  ],
  ['install', 'docker build', 'needs Docker and a registry'],
  ['install', 'umask 077\ninstall -d', 'needs Docker; `../deploy/kubernetes.test.ts` runs `init`'],
  ['install', 'kubectl create namespace', 'needs a cluster; `../deploy/kubernetes.test.ts` compares it'],
  ['install', 'temporal operator', 'needs Temporal; `../deploy/kubernetes.test.ts` compares it'],
  [
    'upgrade',
    'temporal worker',
    'needs Temporal with workers; `../workflows/worker-turn.test.ts` makes such changes by calls',
  ],
  ['install', 'kubectl apply', 'needs a cluster'],
  ['install', 'pod=$(kubectl', 'needs a cluster; `../deploy/kubernetes.test.ts` runs such a command'],
  ['install', 'in_pod=', 'needs a cluster; `../deploy/kubernetes.test.ts` rotates a key so'],
  ['install', '(umask 077; $in_pod cat', 'needs a cluster; `../deploy/kubernetes.test.ts` rotates a key so'],
  ['install', 'name=edge', 'needs a cluster; `../deploy/kubernetes.test.ts` takes these steps'],
  ['install', 'kubectl -n integration logs', 'needs a cluster'],
  ['install', 'set_tokens "$new,$old"', 'needs a cluster; `../deploy/kubernetes.test.ts` takes this step'],
  ['install', 'set_tokens "$new"', 'needs a cluster; `../deploy/kubernetes.test.ts` takes this step'],
  ['install', 'kubectl -n integration create secret', 'needs a cluster'],
  ['upgrade', 'kubectl -n integration rollout pause deployment/integration-edge', 'needs a cluster'],
  ['upgrade', 'kubectl -n integration rollout pause deployment/integration-domain', 'needs a cluster'],
  ['upgrade', 'kubectl -n integration scale', 'needs a cluster'],
  [
    'rotate-keys',
    'systemctl stop',
    'needs the command-line tool of SQLite; `../keys/key-keeper.test.ts` removes these rows',
  ],
  ['retention-and-size', 'sqlite3', 'needs the command-line tool of SQLite'],
  ['move-to-postgresql', 'createuser', 'needs the programs and the superuser of PostgreSQL'],
  ['runbooks', 'psql -c', 'needs a transaction that stays open; `../store/changes` has one'],
  ['upgrade', 'The database was migrated', 'is what a version prints'],
  ['back-up-and-restore', 'systemctl enable', 'needs systemd; `schedule.test.ts` runs what the units run'],
  ['back-up-and-restore', 'runuser -u integration-service -- litestream replicate', 'needs Litestream'],
  ['back-up-and-restore', 'install -d -m 700 -o integration-service /var/lib', 'needs Litestream'],
];

export const pages: Readonly<Record<string, string>> = Object.fromEntries(
  readdirSync(folder).flatMap((name) => {
    const [, slug] = /^(?!README)(.*)\.md$/.exec(name) ?? [];
    return slug === undefined ? [] : [[slug, readFileSync(join(folder, name), 'utf8')]];
  }),
);

/** What people type there, or read in their terminal. */
export function terminalBlocks(page: string): string[] {
  return blocksOf(pages[page] ?? '').flatMap(({ language, code }) =>
    language === 'sh' || language === 'text' ? [code] : [],
  );
}

export function codeOf([page, begins]: Printed): string {
  const [code, ...others] = terminalBlocks(page).filter((each) => each.startsWith(begins));
  if (code === undefined || others.length > 0) {
    throw new Error(`${others.length + (code ? 1 : 0)} blocks of the page ${page} begin with “${begins}”.`);
  }
  return code;
}
