import type { EventType } from '../../../generated/asyncapi/events.js';
import { instanceIds } from '../sign-on/demo-environment.js';
import { call } from '../sign-on/environment.js';
import type { WebhookEnvironment } from './webhook-environment.js';

/** What a write shall have made known: an event of this type about this thing. */
export interface Expected {
  type: EventType;
  entityId: string;
}

/** The life of a client, told by writes of the platform, with every type of event in it. */
export class EventStory {
  readonly expected: Expected[] = [];
  clientId = '';

  constructor(private readonly demo: WebhookEnvironment) {}

  async tell(): Promise<void> {
    this.clientId = await this.demo.newClient(instanceIds.harborlight, 'Ålesund “Fish” & Söhne 🐟');
    this.#expect('client.created', this.clientId);
    await this.#users();
    const unitId = await this.#units();
    await this.#workers(unitId);
  }

  async #users(): Promise<void> {
    const { platform } = this.demo;
    const { clientId } = this;
    const owner = await platform.createUser({ clientId, email: address(), withoutManager: false }, call());
    const ownerId = this.#expect('user.created', owner.user?.id);
    const role = await platform.createRole({ clientId, name: 'Clerk', permissions: ['pay:read'] }, call());
    const roleId = role.role?.id ?? '';
    const person = { firstName: 'Ivy', lastName: 'Marsh' };
    const clerk = { ...person, clientId, email: address(), withoutManager: false, roleId };
    const userId = this.#expect('user.created', (await platform.createUser(clerk, call())).user?.id);
    await platform.updateUser({ userId, firstName: 'Iva' }, call());
    this.#expect('user.updated', userId);
    await platform.editRolePermissions({ roleId, permissions: ['pay:write'], userIds: [] }, call());
    this.#expect('user.updated', userId);
    await platform.deleteUser({ userId }, call());
    this.#expect('user.updated', userId);
    await platform.updateUser({ userId: ownerId, lastName: 'Tarrant' }, call());
    this.#expect('user.updated', ownerId);
  }

  async #units(): Promise<string> {
    const { platform } = this.demo;
    const units = ['North', 'South'].map((name) => ({ name, unitCode: name.slice(0, 1), subUnits: [] }));
    const made = await platform.createUnitType({ clientId: this.clientId, name: 'Division', units }, call());
    const unitTypeId = this.#expect('organization_unit_type.created', made.unitType?.id);
    for (const unit of made.units) {
      this.#expect('organization_unit.created', unit.id);
    }
    const later = await platform.createUnit({ unitTypeId, name: 'West', subUnits: [] }, call());
    return this.#expect('organization_unit.created', later.unit?.id);
  }

  async #workers(unitId: string): Promise<void> {
    const { platform } = this.demo;
    const { clientId } = this;
    const { location } = await platform.createLocation(
      { clientId, name: 'Quay', address: { city: 'Bodø', isoCountryCode: 'NO' } },
      call(),
    );
    const locationId = this.#expect('organization_location.created', location?.id);
    const onboarding = {
      clientId,
      locationId,
      email: address(),
      firstName: 'Bo',
      lastName: 'Vik',
      jobTitles: ['Filleter'],
      unitIds: [unitId],
    };
    const { worker } = await platform.onboardWorker(onboarding, call());
    const workerId = this.#expect('worker.onboarded', worker?.id);
    await platform.updateWorker({ workerId, phone: '+47 70 12 34 56', jobTitles: [] }, call());
    this.#expect('worker.updated', workerId);
    await platform.deleteLocation({ locationId }, call());
    this.#expect('organization_location.deleted', locationId);
    this.#expect('worker.updated', workerId);
    await platform.offboardWorker({ workerId }, call());
    this.#expect('worker.updated', workerId);
  }

  #expect(type: EventType, entityId = ''): string {
    this.expected.push({ type, entityId });
    return entityId;
  }
}

let people = 0;

/** Unused. */
function address(): string {
  people += 1;
  return `person.${people}@fish.example.com`;
}
