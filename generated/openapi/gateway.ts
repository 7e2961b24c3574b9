// Made by `make generate` from the contracts. Do not edit.
export interface paths {
    "/v1/instance-integrations": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        /**
         * List instance integrations
         * @description All connections between your integration and instances of the platform, those not yet set up included. Empty when there is none.
         */
        get: operations["listInstanceIntegrations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instance-integrations/{instanceIntegrationId}/changes": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Public id of the instance integration.
                 * @example iin_HnuQOy4YQg1OdOSCDbMAkY
                 */
                instanceIntegrationId: components["parameters"]["InstanceIntegrationId"];
            };
            cookie?: never;
        };
        /**
         * List changes
         * @description What this API shows of the instance, as one sequence: each client, worker, user, unit type, unit, location and list of
         *     job titles once, at the place of its newest change. Without `after` it begins with all that exists. With the
         *     `cursor` of the last item that you stored it continues with what changed since, removals included.
         *
         *     Store the items and the last `cursor` together. Whatever you have read, nothing that was committed before it is
         *     missing, and you can stop and go on at any item. An entity that changes while you read comes again, at its new place. An item
         *     may refer to an entity that comes later, and may come again with the same `version`.
         *
         *     The header `Link` has the next page as long as there is one. After the last, ask again with `after` and `wait`:
         *     the answer comes as soon as something changes, or is an empty array when the wait is over. An empty array leaves your cursor as
         *     it is.
         *
         *     Cursors stay valid when keys are replaced and when the service is restarted or upgraded. If the service was restored
         *     from a backup or lost power, or another database server took over, a cursor of a reader who may have seen more than the
         *     service has now is answered with 410 and `cursor_expired`: start again without `after`, and when you have reached the end, remove what the new pass did not bring.
         */
        get: operations["listChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instance-integrations/{instanceIntegrationId}/changes/digest": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Public id of the instance integration.
                 * @example iin_HnuQOy4YQg1OdOSCDbMAkY
                 */
                instanceIntegrationId: components["parameters"]["InstanceIntegrationId"];
            };
            cookie?: never;
        };
        /**
         * Get the digest of a client
         * @description Counts and digests of what the sequence of changes has of one client, to prove that your copy is equal. The digest of
         *     a type is the sum of the `version` of all its entities that are not removed, modulo 2^52. Read all changes, then
         *     compare it with the sum over your copy. A copy with the same count and digest has the same entities in the same
         *     versions.
         *
         *     If they differ, read on, then ask and compare again: something may have changed meanwhile. If the second digest is the
         *     same as the first, and no change of the client arrived between them, your copy is not equal: start again without
         *     `after`, and remove what the new pass did not bring.
         *
         *     The answer waits up to three seconds for a change that is still being made, and is 503 after that. Ask for one client
         *     after another: while eight requests of an integration wait, one more that would wait answers 429.
         */
        get: operations["getChangesDigest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instance-integrations/{instanceIntegrationId}/clients": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Public id of the instance integration.
                 * @example iin_HnuQOy4YQg1OdOSCDbMAkY
                 */
                instanceIntegrationId: components["parameters"]["InstanceIntegrationId"];
            };
            cookie?: never;
        };
        /**
         * List clients
         * @description All clients of the instance.
         */
        get: operations["listClients"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instance-integrations/{instanceIntegrationId}/clients/{clientId}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Public id of the client.
                 * @example cli_4Fqnh5226raKAAEIfY2jwW
                 */
                clientId: components["parameters"]["ClientId"];
                /**
                 * @description Public id of the instance integration.
                 * @example iin_HnuQOy4YQg1OdOSCDbMAkY
                 */
                instanceIntegrationId: components["parameters"]["InstanceIntegrationId"];
            };
            cookie?: never;
        };
        /**
         * Get a client
         * @description One client of the instance. The target of `links.self` of the event `client.created`.
         */
        get: operations["getClient"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instance-integrations/{instanceIntegrationId}/clients/{clientId}/job-titles": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Public id of the client.
                 * @example cli_4Fqnh5226raKAAEIfY2jwW
                 */
                clientId: components["parameters"]["ClientId"];
                /**
                 * @description Public id of the instance integration.
                 * @example iin_HnuQOy4YQg1OdOSCDbMAkY
                 */
                instanceIntegrationId: components["parameters"]["InstanceIntegrationId"];
            };
            cookie?: never;
        };
        /**
         * List job titles
         * @description The job titles of the client, each once, also those that no worker has now.
         */
        get: operations["listJobTitles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instance-integrations/{instanceIntegrationId}/clients/{clientId}/organization-structure": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Public id of the client.
                 * @example cli_4Fqnh5226raKAAEIfY2jwW
                 */
                clientId: components["parameters"]["ClientId"];
                /**
                 * @description Public id of the instance integration.
                 * @example iin_HnuQOy4YQg1OdOSCDbMAkY
                 */
                instanceIntegrationId: components["parameters"]["InstanceIntegrationId"];
            };
            cookie?: never;
        };
        /**
         * Get the organization structure
         * @description The layers, units and locations of the client in one object. `links.self` of the events about units, unit types and locations leads here.
         */
        get: operations["getOrganizationStructure"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instance-integrations/{instanceIntegrationId}/clients/{clientId}/users": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Public id of the client.
                 * @example cli_4Fqnh5226raKAAEIfY2jwW
                 */
                clientId: components["parameters"]["ClientId"];
                /**
                 * @description Public id of the instance integration.
                 * @example iin_HnuQOy4YQg1OdOSCDbMAkY
                 */
                instanceIntegrationId: components["parameters"]["InstanceIntegrationId"];
            };
            cookie?: never;
        };
        /**
         * List users
         * @description All users of the client except deleted ones, or one page of them with `limit`.
         */
        get: operations["listUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instance-integrations/{instanceIntegrationId}/clients/{clientId}/users/{userId}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Public id of the client.
                 * @example cli_4Fqnh5226raKAAEIfY2jwW
                 */
                clientId: components["parameters"]["ClientId"];
                /**
                 * @description Public id of the instance integration.
                 * @example iin_HnuQOy4YQg1OdOSCDbMAkY
                 */
                instanceIntegrationId: components["parameters"]["InstanceIntegrationId"];
                /**
                 * @description Public id of the user.
                 * @example usr_HCZONjGb2Vig7IXUdMsJi5
                 */
                userId: components["parameters"]["UserId"];
            };
            cookie?: never;
        };
        /**
         * Get a user
         * @description One user of the client, in any status. The target of `links.self` of events about users.
         */
        get: operations["getUser"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/instance-integrations/{instanceIntegrationId}/clients/{clientId}/workers": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Public id of the client.
                 * @example cli_4Fqnh5226raKAAEIfY2jwW
                 */
                clientId: components["parameters"]["ClientId"];
                /**
                 * @description Public id of the instance integration.
                 * @example iin_HnuQOy4YQg1OdOSCDbMAkY
                 */
                instanceIntegrationId: components["parameters"]["InstanceIntegrationId"];
            };
            cookie?: never;
        };
        /**
         * List workers
         * @description All workers of the client, but those offboarded, as version 1 shows them: without their place in the organization structure. New integrations do well to use version 2.
         */
        get: operations["listWorkers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/instance-integrations/{instanceIntegrationId}/clients/{clientId}/workers": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Public id of the client.
                 * @example cli_4Fqnh5226raKAAEIfY2jwW
                 */
                clientId: components["parameters"]["ClientId"];
                /**
                 * @description Public id of the instance integration.
                 * @example iin_HnuQOy4YQg1OdOSCDbMAkY
                 */
                instanceIntegrationId: components["parameters"]["InstanceIntegrationId"];
            };
            cookie?: never;
        };
        /**
         * List workers, version 2
         * @description All workers of the client, but those offboarded, with their place in the organization structure, or one page of them when `limit` is given.
         */
        get: operations["listWorkersV2"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/instance-integrations/{instanceIntegrationId}/clients/{clientId}/workers/{workerId}": {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Public id of the client.
                 * @example cli_4Fqnh5226raKAAEIfY2jwW
                 */
                clientId: components["parameters"]["ClientId"];
                /**
                 * @description Public id of the instance integration.
                 * @example iin_HnuQOy4YQg1OdOSCDbMAkY
                 */
                instanceIntegrationId: components["parameters"]["InstanceIntegrationId"];
                /**
                 * @description Public id of the worker.
                 * @example wrk_l50ycP5H6CnQHxa7Xt2y3d
                 */
                workerId: components["parameters"]["WorkerId"];
            };
            cookie?: never;
        };
        /**
         * Get a worker, version 2
         * @description One worker of the client, offboarded or not. The target of `links.self` of events about workers.
         */
        get: operations["getWorkerV2"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * Address
         * @description A postal address. All six members are always present; what is not known is `null`.
         */
        Address: {
            /**
             * @description Street and number.
             * @example 18 Harbour Street
             */
            address1: string | null;
            /**
             * @description Floor, suite or building.
             * @example Suite 400
             */
            address2: string | null;
            /**
             * @description City or town.
             * @example Portland
             */
            city: string | null;
            /**
             * @description Country, as two capital letters of ISO 3166-1 alpha-2.
             * @example US
             */
            isoCountryCode: string | null;
            /**
             * @description Postal or ZIP code.
             * @example 04101
             */
            postalCode: string | null;
            /**
             * @description Code of the state or province.
             * @example ME
             */
            zoneCode: string | null;
        };
        /**
         * ApplicationInstance
         * @description An instance, one deployment of the platform, as an instance integration shows it.
         */
        ApplicationInstance: {
            id: components["schemas"]["InstanceId"];
            /**
             * @description Name of the instance, for people to read. It may change.
             * @example Harborlight Payroll
             */
            instanceName: string;
        };
        /**
         * Change
         * @description An entity at the place of its newest change.
         */
        Change: {
            /**
             * Format: date-time
             * @description When the entity last changed. ISO 8601, UTC. For people; the order is that of the items.
             * @example 2026-06-11T16:02:19.350Z
             */
            changedAt: string;
            /** @description The client to which the entity belongs. */
            clientId: components["schemas"]["ClientId"];
            /**
             * @description The place of the item. Send the last one that you stored as `after`. Opaque, and bound to the instance integration.
             * @example worker.wrk_l50ycP5H6CnQHxa7Xt2y3d.CO12A630g4vw7S-rH538RX77Fbhcza7N-3DgQYwQYHAyR4clk_hL9X7ZdkboTQ.HnuQ
             */
            cursor: string;
            /** @description The entity that changed. */
            entity: components["schemas"]["ChangedEntity"];
            /**
             * @description Whether the lists omit the entity now: it was deleted, or the worker left. Remove it from your copy. Removed users and workers still answer at their own paths. An entity can come back.
             * @example false
             */
            removed: boolean;
            /**
             * @description The entity as its own path or its list answers it, or `null` when it was removed.
             *
             *     | `entity.type` | `resource` |
             *     |---|---|
             *     | `client` | `TenantClient` |
             *     | `jobTitles` | array of strings |
             *     | `location` | `OrganizationLocation` |
             *     | `unit` | `Unit` |
             *     | `unitType` | `UnitType` |
             *     | `user` | `User` |
             *     | `worker` | `WorkerV2` |
             * @example null
             */
            resource: unknown;
            /**
             * Format: int64
             * @description A random number below 2^40 that each change of the entity replaces. Store it, because digests are made from it.
             * @example 481730294553
             */
            version: number;
        };
        /**
         * ChangedEntity
         * @description Which entity an item of the sequence of changes is about.
         */
        ChangedEntity: {
            /**
             * @description The public id of the entity. For `jobTitles`, that of the client.
             * @example wrk_l50ycP5H6CnQHxa7Xt2y3d
             */
            id: string;
            /**
             * @description The kind of the entity: `client`, `jobTitles` (one per client, the list of its job titles), `location`, `unit`, `unitType`, `user` or `worker`. New kinds may be added: ignore those that you do not know.
             * @example worker
             */
            type: string;
        };
        /**
         * ChangesDigest
         * @description The digests of one client, one for each type of entity.
         */
        ChangesDigest: {
            /** @description The client. */
            clientId: components["schemas"]["ClientId"];
            /** @description One for each type of entity. */
            entities: components["schemas"]["EntityDigest"][];
        };
        /**
         * ClientId
         * @description Public id of a client: a tenant of an instance.
         * @example cli_4Fqnh5226raKAAEIfY2jwW
         */
        ClientId: `cli_${string}`;
        /**
         * EmailAddress
         * Format: email
         * @description An email address in ASCII of at most 254 characters, with an international domain in Punycode. The platform
         *     accepts no other. A person whose address is older than this rule keeps it for signing in; here it is shown in
         *     Punycode where that suffices, otherwise as an address of the reserved domain `address.invalid`. A person who was
         *     erased has an address of the reserved domain `erased.invalid`.
         * @example maren.okafor@example.com
         */
        EmailAddress: string;
        /**
         * EntityDigest
         * @description All entities of one type of a client that are not removed.
         */
        EntityDigest: {
            /**
             * Format: int64
             * @description Their number.
             * @example 2
             */
            count: number;
            /**
             * Format: int64
             * @description The sum of their versions, modulo 2^52.
             * @example 1326070150271
             */
            digest: number;
            /**
             * @description The kind of the entities.
             * @example worker
             */
            type: string;
        };
        /**
         * InstanceId
         * @description Public id of an instance: one deployment of the platform.
         * @example ins_3p6PT9wVyh5HYgpDAJEJd8
         */
        InstanceId: `ins_${string}`;
        /**
         * InstanceIntegration
         * @description The connection between your integration and one instance of the platform.
         */
        InstanceIntegration: {
            /** @description The instance your integration is connected to. */
            applicationInstance: components["schemas"]["ApplicationInstance"];
            /**
             * Format: date-time
             * @description When your integration was connected to the instance. ISO 8601, UTC.
             * @example 2025-11-04T09:12:31.418Z
             */
            createdAt: string;
            id: components["schemas"]["InstanceIntegrationId"];
            /**
             * Format: date-time
             * @description When the connection last changed. ISO 8601, UTC.
             * @example 2026-02-17T15:40:02.007Z
             */
            updatedAt: string;
        };
        /**
         * InstanceIntegrationId
         * @description Public id of an instance integration: the connection between an integration and one instance.
         * @example iin_HnuQOy4YQg1OdOSCDbMAkY
         */
        InstanceIntegrationId: `iin_${string}`;
        /**
         * LocationId
         * @description Public id of an organization location: a place where a client has workers.
         * @example olo_vIjZX8fbgjZo5Hb4eb8gL9
         */
        LocationId: `olo_${string}`;
        /**
         * NamedLocation
         * @description A reference to an organization location, with its name.
         */
        NamedLocation: {
            id: components["schemas"]["LocationId"];
            /**
             * @description Name of the location.
             * @example Old Port Bakery
             */
            name: string;
        };
        /**
         * NamedUnit
         * @description A reference to an organization unit, with its name.
         */
        NamedUnit: {
            id: components["schemas"]["UnitId"];
            /**
             * @description Name of the unit.
             * @example Kitchen
             */
            name: string;
        };
        /**
         * OrganizationLocation
         * @description A place where a client has workers.
         */
        OrganizationLocation: {
            id: components["schemas"]["LocationId"];
            /**
             * @description Name of the location.
             * @example Old Port Bakery
             */
            name: string;
        };
        /**
         * OrganizationStructure
         * @description The structure of a client, which is fully dynamic: the client defines the layers (`unitsTypes`) and creates units of those types. Each of the three lists may be empty.
         */
        OrganizationStructure: {
            /** @description The organization locations of the client. */
            locations: components["schemas"]["OrganizationLocation"][];
            /** @description The units of all layers, as a flat list. `parentUnitId` makes the tree. */
            units: components["schemas"]["Unit"][];
            /** @description The layers the client has defined. Mind the spelling of the key. */
            unitsTypes: components["schemas"]["UnitType"][];
        };
        /**
         * Problem
         * @description An error, as a problem document (RFC 9457). Rely on the HTTP status and on `code`. The wording of `title`, `message`
         *     and `errors` may change at any time, but for two messages that are part of the contract:
         *     `Instance integration not found` and `Instance integration not configured`.
         */
        Problem: {
            code: components["schemas"]["ProblemCode"];
            /** @description All invalid places of the request. Present with `invalid_request`, but for requests that are not valid HTTP or whose path is not percent-encoded UTF-8. */
            errors?: components["schemas"]["ProblemField"][];
            /**
             * @description What happened, in a sentence for people.
             * @example Client not found
             */
            message: string;
            /**
             * @description Id of the request, the same as in the response header `x-request-id`. Include it in support requests.
             * @example req-7d1f0c52
             */
            requestId: string;
            /**
             * @description The HTTP status, repeated.
             * @example 404
             */
            status: number;
            /**
             * @description Short name of the HTTP status.
             * @example Not Found
             */
            title: string;
            /**
             * Format: uri-reference
             * @description The documentation of the `code`, as a path at the gateway. Decide by `code`: the path may change.
             * @example /docs/errors#client_not_found
             */
            type: string;
        };
        /**
         * ProblemCode
         * @description What went wrong, for programs. Codes are never renamed or reused; new ones may be added, so treat a code you do
         *     not know like its HTTP status.
         *
         *     | Code | Status | Meaning |
         *     |---|---|---|
         *     | `invalid_request` | 400 | The request violates this document; `errors` lists every place. What is not valid HTTP, too large or too late has this code with 400, 408, 413, 417 or 431, and no `errors`. |
         *     | `api_key_in_query` | 400 | An API key was sent in the address, where logs would keep it. Send it in `x-api-key`, and replace the key. |
         *     | `api_key_missing` | 401 | The header `x-api-key` is missing or empty. |
         *     | `api_key_malformed` | 401 | The key is malformed: its length, prefix or checksum is wrong. |
         *     | `api_key_unknown` | 401 | The key is well formed but invalid: never issued, or revoked. |
         *     | `api_key_expired` | 401 | The key has expired. |
         *     | `api_key_wrong_environment` | 401 | A demo key was used on the live service, or a live key on the demo. |
         *     | `instance_integration_not_found` | 404 | There is no such instance integration, or your key does not reach it. |
         *     | `instance_integration_not_configured` | 404 | The instance integration exists and is not set up yet. |
         *     | `client_not_found` | 404 | There is no such client on this instance. |
         *     | `user_not_found` | 404 | The client has no such user. |
         *     | `worker_not_found` | 404 | The client has no such worker. |
         *     | `route_not_found` | 404 | There is nothing at this path. |
         *     | `method_not_allowed` | 405 | The path is read-only: it accepts `GET` and `HEAD`. |
         *     | `not_acceptable` | 406 | `Accept` rules out `application/json`. |
         *     | `cursor_expired` | 410 | The service was restored from a backup or lost power, or another database server took over, and it may lack some of what you have read. Read the changes again without `after`. |
         *     | `rate_limited` | 429 | Too many requests; wait as long as `Retry-After` says. |
         *     | `internal_error` | 500 | An internal error. Include the `requestId` in support requests. |
         *     | `not_implemented` | 501 | The operation is not available on this server yet: only while the service is upgraded. |
         *     | `unavailable` | 503 | The service is briefly unable to answer; wait as long as `Retry-After` says. |
         * @example client_not_found
         * @enum {string}
         */
        ProblemCode: "invalid_request" | "api_key_in_query" | "api_key_missing" | "api_key_malformed" | "api_key_unknown" | "api_key_expired" | "api_key_wrong_environment" | "instance_integration_not_found" | "instance_integration_not_configured" | "client_not_found" | "user_not_found" | "worker_not_found" | "route_not_found" | "method_not_allowed" | "not_acceptable" | "cursor_expired" | "rate_limited" | "internal_error" | "not_implemented" | "unavailable";
        /**
         * ProblemField
         * @description One invalid place of the request.
         */
        ProblemField: {
            /**
             * @description The part of the request with the place.
             * @example path
             * @enum {string}
             */
            in: "path" | "query" | "header" | "body";
            /**
             * @description What is wrong, for people. Its wording may change.
             * @example must be a public id of the form cli_ and 22 letters or digits
             */
            message: string;
            /**
             * @description Name of the parameter or header; in a body, the JSON pointer of the member.
             * @example clientId
             */
            path: string;
        };
        /**
         * TenantClient
         * @description A tenant of an instance, usually a company.
         */
        TenantClient: {
            id: components["schemas"]["ClientId"];
            /** @description Address of the client. Always an object; its members can be `null`. */
            location: components["schemas"]["Address"];
            /**
             * @description Name of the client, for people to read. It may change.
             * @example Tallowfern Bakeries
             */
            name: string;
        };
        /**
         * Unit
         * @description An organization unit, one node of the structure of a client.
         */
        Unit: {
            /**
             * @description What the unit is, in the client's words, or `null`.
             * @example Prepares everything that is served warm
             */
            description: string | null;
            id: components["schemas"]["UnitId"];
            /**
             * @description Name of the unit.
             * @example Kitchen
             */
            name: string;
            /** @description Public id of the unit above this one, which is in the same list, or `null` for a top-level unit. */
            parentUnitId: components["schemas"]["UnitId"] | null;
            unitTypeId: components["schemas"]["UnitTypeId"];
        };
        /**
         * UnitId
         * @description Public id of an organization unit, such as the department Engineering.
         * @example oun_AY6lBH6YKoJweoV8pLiPU2
         */
        UnitId: `oun_${string}`;
        /**
         * UnitType
         * @description A layer of the organization structure, which the client names itself, such as Division or Department.
         */
        UnitType: {
            id: components["schemas"]["UnitTypeId"];
            /**
             * @description Name of the layer.
             * @example Department
             */
            name: string;
        };
        /**
         * UnitTypeId
         * @description Public id of an organization unit type: a layer of the structure of a client, such as Department.
         * @example out_k2IAc77Axq0Kx0eMtCbk3e
         */
        UnitTypeId: `out_${string}`;
        /**
         * User
         * @description A person who can sign in to the dashboard on behalf of a client. Not a worker, though one person can be both.
         */
        User: {
            clientId: components["schemas"]["ClientId"];
            /**
             * Format: date-time
             * @description When the user was created. Never changes. ISO 8601, UTC.
             * @example 2025-12-01T08:30:00.000Z
             */
            createdAt: string;
            /** @description Email address with which the person signs in. If the person proves another one while the user is `INVITED` or `DELETED`, the user keeps the address until it is `ACTIVE`, unless the user's client asked for the other one. */
            email: components["schemas"]["EmailAddress"];
            /**
             * @description Given name, or `null`.
             * @example Priya
             */
            firstName: string | null;
            /**
             * @description Whole name, in the order in which the platform shows it, or `null`.
             * @example Priya Raman
             */
            fullName: string | null;
            /**
             * @description Family name, or `null`.
             * @example Raman
             */
            lastName: string | null;
            /** @description The one manager of the user, or `null`. A single object, never an array. */
            manager: components["schemas"]["UserManager"] | null;
            /** @description The access role of the user, at most one, or `null`. */
            role: components["schemas"]["UserRole"] | null;
            status: components["schemas"]["UserStatus"];
            userId: components["schemas"]["UserId"];
        };
        /**
         * UserId
         * @description Public id of a user: a person who can sign in to the dashboard on behalf of a client.
         * @example usr_HCZONjGb2Vig7IXUdMsJi5
         */
        UserId: `usr_${string}`;
        /**
         * UserManager
         * @description The manager of a user, who is a user of the same client.
         */
        UserManager: {
            email: components["schemas"]["EmailAddress"];
            /**
             * @description Given name, or `null`.
             * @example Tobias
             */
            firstName: string | null;
            /**
             * @description Whole name, in the order in which the platform shows it, or `null`.
             * @example Tobias Lindqvist
             */
            fullName: string | null;
            id: components["schemas"]["UserId"];
            /**
             * @description Family name, or `null`.
             * @example Lindqvist
             */
            lastName: string | null;
        };
        /**
         * UserRole
         * @description The access role of a user. Match roles by `name`: editing the permissions of a user can put a new custom role, with a new `id`, in the place of the old one.
         */
        UserRole: {
            /**
             * @description Internal id of the access role. It is not a public id, has no fixed shape and opens no endpoint.
             * @example 5mQ8LtYcRz0WvKxB3nHdPf
             */
            id: string;
            /**
             * @description Name of the role, such as Owner or Admin, or the name of a custom role.
             * @example Admin
             */
            name: string;
        };
        /**
         * UserStatus
         * @description The status of a user:
         *
         *     - `INVITED`: the person has not signed in as this user yet.
         *     - `ACTIVE`: may sign in. An invited user becomes active when the person first signs in as this user.
         *     - `INACTIVE`: was disabled by an administrator and may not sign in.
         *     - `DELETED`: was removed. Omitted from lists; can be read by id.
         * @example ACTIVE
         * @enum {string}
         */
        UserStatus: "ACTIVE" | "INACTIVE" | "INVITED" | "DELETED";
        /**
         * Worker
         * @description An employee or contractor of a client, who receives payroll. Version 1 of the record.
         */
        Worker: {
            /** @description Email address of the worker. */
            email: components["schemas"]["EmailAddress"];
            /**
             * @description Given name.
             * @example Maren
             */
            firstName: string;
            /**
             * @description Whole name, in the order in which the platform shows it.
             * @example Maren Okafor
             */
            fullName: string;
            id: components["schemas"]["WorkerId"];
            /**
             * @description Job titles registered for the worker. May be empty.
             * @example [
             *       "Line Cook",
             *       "Shift Lead"
             *     ]
             */
            jobTitles: string[];
            /**
             * @description Family name.
             * @example Okafor
             */
            lastName: string;
            /** @description Address of the worker. Always an object; its members can be `null`. */
            location: components["schemas"]["Address"];
            /**
             * @description Phone number as it was entered, or `null`.
             * @example +1 207 555 0142
             */
            phone: string | null;
        };
        /**
         * WorkerId
         * @description Public id of a worker: an employee or contractor of a client who receives payroll.
         * @example wrk_l50ycP5H6CnQHxa7Xt2y3d
         */
        WorkerId: `wrk_${string}`;
        /**
         * WorkerV2
         * @description An employee or contractor of a client, who receives payroll. Version 2 of the record: all of version 1, and where the worker stands in the organization structure.
         */
        WorkerV2: {
            /** @description Email address of the worker. */
            email: components["schemas"]["EmailAddress"];
            /**
             * @description Given name.
             * @example Maren
             */
            firstName: string;
            /**
             * @description Whole name, in the order in which the platform shows it.
             * @example Maren Okafor
             */
            fullName: string;
            id: components["schemas"]["WorkerId"];
            /**
             * @description Job titles registered for the worker. May be empty.
             * @example [
             *       "Line Cook",
             *       "Shift Lead"
             *     ]
             */
            jobTitles: string[];
            /**
             * @description Family name.
             * @example Okafor
             */
            lastName: string;
            /** @description Address of the worker. Always an object; its members can be `null`. */
            location: components["schemas"]["Address"];
            /**
             * Format: date-time
             * @description When the worker was offboarded, or `null`. Always `null` in lists, which omit offboarded workers. ISO 8601, UTC.
             * @example 2026-10-02T08:00:00.000Z
             */
            offboardedAt: string | null;
            /** @description The organization location of the worker, or `null`. */
            organizationLocation: components["schemas"]["NamedLocation"] | null;
            /** @description The primary one of `organizationUnits`, or `null` when the worker is assigned to none. */
            organizationUnit: components["schemas"]["NamedUnit"] | null;
            /** @description All organization units to which the worker is assigned. May be empty. */
            organizationUnits: components["schemas"]["NamedUnit"][];
            /**
             * @description Phone number as it was entered, or `null`.
             * @example +1 207 555 0142
             */
            phone: string | null;
        };
    };
    responses: {
        /** @description The request violates this document. `errors` lists all invalid places. */
        BadRequest: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The instance integration or the client does not exist or is not yours, or the instance integration is not set up. */
        ClientNotFound: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The service was restored or lost power, or another database server took over, and it may lack some of what you have read. Start again without `after`. */
        CursorExpired: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The instance integration does not exist, is not yours, or is not set up. */
        InstanceIntegrationNotFound: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description An internal error. Include the `requestId` in support requests. */
        InternalError: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The path takes `GET` and `HEAD` only. */
        MethodNotAllowed: {
            headers: {
                Allow: components["headers"]["Allow"];
                "Cache-Control": components["headers"]["NoStore"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `Accept` excludes `application/json`, the only type. */
        NotAcceptable: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Nothing changed since the answer whose `ETag` you sent. There is no body. */
        NotModified: {
            headers: {
                "Cache-Control": components["headers"]["CacheControl"];
                ETag: components["headers"]["ETag"];
                Vary: components["headers"]["Vary"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description Your integration has reached one of its limits: requests in a period, lists or digests that it reads at once, or requests that wait for changes. Or the server has no place for further lists or digests, because all integrations together read too many. Wait as long as `Retry-After` says. */
        TooManyRequests: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Retry-After": components["headers"]["RetryAfter"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The API key is missing or wrong. `code` says which. */
        Unauthorized: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The service is briefly unable to answer. Wait as long as `Retry-After` says. */
        Unavailable: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "Retry-After": components["headers"]["RetryAfter"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The instance integration, the client or the user does not exist or is not yours, or the instance integration is not set up. */
        UserNotFound: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The instance integration, the client or the worker does not exist or is not yours, or the instance integration is not set up. */
        WorkerNotFound: {
            headers: {
                "Cache-Control": components["headers"]["NoStore"];
                "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                "x-request-id": components["headers"]["RequestId"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /**
         * @description Public id of the client.
         * @example cli_4Fqnh5226raKAAEIfY2jwW
         */
        ClientId: components["schemas"]["ClientId"];
        /**
         * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
         * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
         */
        IfNoneMatch: string;
        /**
         * @description Public id of the instance integration.
         * @example iin_HnuQOy4YQg1OdOSCDbMAkY
         */
        InstanceIntegrationId: components["schemas"]["InstanceIntegrationId"];
        /**
         * @description The largest number of records in the answer. If the records are large, or take long to read, an answer may have fewer, also when more follow: see `Link`. By default all.
         * @example 100
         */
        Limit: number;
        /**
         * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
         * @example req-7d1f0c52
         */
        RequestId: string;
        /**
         * @description Public id of the user.
         * @example usr_HCZONjGb2Vig7IXUdMsJi5
         */
        UserId: components["schemas"]["UserId"];
        /**
         * @description The cursor from the `Link` of the previous page. Opaque: send it unchanged. It is valid for this list of this client only; other lists answer 400 with `invalid_request`. Without `limit`, the answer has everything from there on.
         * @example listUsers.cli_4Fqnh5226raKAAEIfY2jwW.MTc2NzIyNTYwMDAwMC51c3JfSENaT05qR2IyVmlnN0lYVWRNc0ppNQ
         */
        UsersCursor: string;
        /**
         * @description Public id of the worker.
         * @example wrk_l50ycP5H6CnQHxa7Xt2y3d
         */
        WorkerId: components["schemas"]["WorkerId"];
        /**
         * @description The cursor from the `Link` of the previous page. Opaque: send it unchanged. It is valid for this list of this client only; other lists answer 400 with `invalid_request`. Without `limit`, the answer has everything from there on.
         * @example listWorkersV2.cli_4Fqnh5226raKAAEIfY2jwW.MTc2NzIyNTYwMDAwMC53cmtfNzFzWkNXOHdCTmZWcG1IYkcwQ2liMA
         */
        WorkersCursor: string;
    };
    requestBodies: never;
    headers: {
        /**
         * @description The methods that the path takes.
         * @example GET, HEAD
         */
        Allow: string;
        /**
         * @description A private cache may keep the answer and must ask again before each use.
         * @example private, no-cache
         */
        CacheControl: "private, no-cache";
        /**
         * @description Version of the answer. Send it back in `If-None-Match`; 304 says that nothing changed.
         * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
         */
        ETag: string;
        /** @description The address of the next page, with `rel="next"` (RFC 8288). Absent on the last page. Lists of workers and users are one page when no `limit` was sent; changes come in pages in any case. */
        Link: string;
        /**
         * @description Errors are not to be kept.
         * @example no-store
         */
        NoStore: "no-store";
        /**
         * @description How many requests your integration may make in one window.
         * @example 600
         */
        RateLimitLimit: number;
        /**
         * @description How many of them are left in this window.
         * @example 587
         */
        RateLimitRemaining: number;
        /**
         * @description Seconds until the window resets.
         * @example 41
         */
        RateLimitReset: number;
        /**
         * @description Id of the request, yours or one we made. It is logged; include it in support requests.
         * @example req-7d1f0c52
         */
        RequestId: string;
        /**
         * @description Seconds to wait before asking again.
         * @example 12
         */
        RetryAfter: number;
        /**
         * @description The answer depends on the key that asks and on the encodings that it accepts.
         * @example x-api-key, Accept-Encoding
         */
        Vary: string;
        /**
         * @description How to authenticate. The scheme `ApiKey` stands for the header `x-api-key`.
         * @example ApiKey realm="gateway"
         */
        WwwAuthenticate: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listInstanceIntegrations: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The instance integrations of your integration. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InstanceIntegration"][];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            405: components["responses"]["MethodNotAllowed"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listChanges: {
        parameters: {
            query?: {
                /**
                 * @description The `cursor` of the last item that you stored. Opaque. By default the sequence starts at its beginning.
                 * @example worker.wrk_l50ycP5H6CnQHxa7Xt2y3d.CO12A630g4vw7S-rH538RX77Fbhcza7N-3DgQYwQYHAyR4clk_hL9X7ZdkboTQ.HnuQ
                 */
                after?: string;
                /**
                 * @description The largest number of items in the answer. An answer has at most 500, and may have fewer, also when more follow.
                 * @example 100
                 */
                limit?: number;
                /**
                 * @description The seconds to wait for a change when there is none. By default the answer comes at once.
                 * @example 25
                 */
                wait?: number;
            };
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Public id of the instance integration.
                 * @example iin_HnuQOy4YQg1OdOSCDbMAkY
                 */
                instanceIntegrationId: components["parameters"]["InstanceIntegrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The changes after the cursor, or one page of them. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    Link: components["headers"]["Link"];
                    Vary: components["headers"]["Vary"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Change"][];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["InstanceIntegrationNotFound"];
            405: components["responses"]["MethodNotAllowed"];
            406: components["responses"]["NotAcceptable"];
            410: components["responses"]["CursorExpired"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getChangesDigest: {
        parameters: {
            query: {
                /**
                 * @description Public id of the client.
                 * @example cli_4Fqnh5226raKAAEIfY2jwW
                 */
                clientId: components["schemas"]["ClientId"];
            };
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Public id of the instance integration.
                 * @example iin_HnuQOy4YQg1OdOSCDbMAkY
                 */
                instanceIntegrationId: components["parameters"]["InstanceIntegrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The digests of the client. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangesDigest"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ClientNotFound"];
            405: components["responses"]["MethodNotAllowed"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listClients: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Public id of the instance integration.
                 * @example iin_HnuQOy4YQg1OdOSCDbMAkY
                 */
                instanceIntegrationId: components["parameters"]["InstanceIntegrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The clients of the instance. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantClient"][];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["InstanceIntegrationNotFound"];
            405: components["responses"]["MethodNotAllowed"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getClient: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Public id of the client.
                 * @example cli_4Fqnh5226raKAAEIfY2jwW
                 */
                clientId: components["parameters"]["ClientId"];
                /**
                 * @description Public id of the instance integration.
                 * @example iin_HnuQOy4YQg1OdOSCDbMAkY
                 */
                instanceIntegrationId: components["parameters"]["InstanceIntegrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The client. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantClient"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ClientNotFound"];
            405: components["responses"]["MethodNotAllowed"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listJobTitles: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Public id of the client.
                 * @example cli_4Fqnh5226raKAAEIfY2jwW
                 */
                clientId: components["parameters"]["ClientId"];
                /**
                 * @description Public id of the instance integration.
                 * @example iin_HnuQOy4YQg1OdOSCDbMAkY
                 */
                instanceIntegrationId: components["parameters"]["InstanceIntegrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job titles of the client. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string[];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ClientNotFound"];
            405: components["responses"]["MethodNotAllowed"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getOrganizationStructure: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Public id of the client.
                 * @example cli_4Fqnh5226raKAAEIfY2jwW
                 */
                clientId: components["parameters"]["ClientId"];
                /**
                 * @description Public id of the instance integration.
                 * @example iin_HnuQOy4YQg1OdOSCDbMAkY
                 */
                instanceIntegrationId: components["parameters"]["InstanceIntegrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The organization structure of the client. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OrganizationStructure"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ClientNotFound"];
            405: components["responses"]["MethodNotAllowed"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listUsers: {
        parameters: {
            query?: {
                /**
                 * @description The cursor from the `Link` of the previous page. Opaque: send it unchanged. It is valid for this list of this client only; other lists answer 400 with `invalid_request`. Without `limit`, the answer has everything from there on.
                 * @example listUsers.cli_4Fqnh5226raKAAEIfY2jwW.MTc2NzIyNTYwMDAwMC51c3JfSENaT05qR2IyVmlnN0lYVWRNc0ppNQ
                 */
                cursor?: components["parameters"]["UsersCursor"];
                /**
                 * @description The largest number of records in the answer. If the records are large, or take long to read, an answer may have fewer, also when more follow: see `Link`. By default all.
                 * @example 100
                 */
                limit?: components["parameters"]["Limit"];
            };
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Public id of the client.
                 * @example cli_4Fqnh5226raKAAEIfY2jwW
                 */
                clientId: components["parameters"]["ClientId"];
                /**
                 * @description Public id of the instance integration.
                 * @example iin_HnuQOy4YQg1OdOSCDbMAkY
                 */
                instanceIntegrationId: components["parameters"]["InstanceIntegrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The users of the client, or one page of them. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    Link: components["headers"]["Link"];
                    Vary: components["headers"]["Vary"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"][];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ClientNotFound"];
            405: components["responses"]["MethodNotAllowed"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getUser: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Public id of the client.
                 * @example cli_4Fqnh5226raKAAEIfY2jwW
                 */
                clientId: components["parameters"]["ClientId"];
                /**
                 * @description Public id of the instance integration.
                 * @example iin_HnuQOy4YQg1OdOSCDbMAkY
                 */
                instanceIntegrationId: components["parameters"]["InstanceIntegrationId"];
                /**
                 * @description Public id of the user.
                 * @example usr_HCZONjGb2Vig7IXUdMsJi5
                 */
                userId: components["parameters"]["UserId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["User"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["UserNotFound"];
            405: components["responses"]["MethodNotAllowed"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listWorkers: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Public id of the client.
                 * @example cli_4Fqnh5226raKAAEIfY2jwW
                 */
                clientId: components["parameters"]["ClientId"];
                /**
                 * @description Public id of the instance integration.
                 * @example iin_HnuQOy4YQg1OdOSCDbMAkY
                 */
                instanceIntegrationId: components["parameters"]["InstanceIntegrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workers of the client. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Worker"][];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ClientNotFound"];
            405: components["responses"]["MethodNotAllowed"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listWorkersV2: {
        parameters: {
            query?: {
                /**
                 * @description The cursor from the `Link` of the previous page. Opaque: send it unchanged. It is valid for this list of this client only; other lists answer 400 with `invalid_request`. Without `limit`, the answer has everything from there on.
                 * @example listWorkersV2.cli_4Fqnh5226raKAAEIfY2jwW.MTc2NzIyNTYwMDAwMC53cmtfNzFzWkNXOHdCTmZWcG1IYkcwQ2liMA
                 */
                cursor?: components["parameters"]["WorkersCursor"];
                /**
                 * @description The largest number of records in the answer. If the records are large, or take long to read, an answer may have fewer, also when more follow: see `Link`. By default all.
                 * @example 100
                 */
                limit?: components["parameters"]["Limit"];
            };
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Public id of the client.
                 * @example cli_4Fqnh5226raKAAEIfY2jwW
                 */
                clientId: components["parameters"]["ClientId"];
                /**
                 * @description Public id of the instance integration.
                 * @example iin_HnuQOy4YQg1OdOSCDbMAkY
                 */
                instanceIntegrationId: components["parameters"]["InstanceIntegrationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workers of the client, or one page of them. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    Link: components["headers"]["Link"];
                    Vary: components["headers"]["Vary"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkerV2"][];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ClientNotFound"];
            405: components["responses"]["MethodNotAllowed"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getWorkerV2: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of your stored answer, or several, separated by commas. When one of them is still true the answer is 304, without a body.
                 * @example "4t0BkNoGm7Qx.bXUq0hC7mVtS1r6kP9fYzA"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /**
                 * @description An id of your own for this request, 1 to 128 letters, digits, dots, underscores or hyphens. It comes back in the answer and stands in our logs, unless it looks like a secret, such as 43 or more characters without a dot, with capital and small letters. When you send none, or one of another shape, we make one.
                 * @example req-7d1f0c52
                 */
                "x-request-id"?: components["parameters"]["RequestId"];
            };
            path: {
                /**
                 * @description Public id of the client.
                 * @example cli_4Fqnh5226raKAAEIfY2jwW
                 */
                clientId: components["parameters"]["ClientId"];
                /**
                 * @description Public id of the instance integration.
                 * @example iin_HnuQOy4YQg1OdOSCDbMAkY
                 */
                instanceIntegrationId: components["parameters"]["InstanceIntegrationId"];
                /**
                 * @description Public id of the worker.
                 * @example wrk_l50ycP5H6CnQHxa7Xt2y3d
                 */
                workerId: components["parameters"]["WorkerId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The worker. */
            200: {
                headers: {
                    "Cache-Control": components["headers"]["CacheControl"];
                    ETag: components["headers"]["ETag"];
                    Vary: components["headers"]["Vary"];
                    "X-RateLimit-Limit": components["headers"]["RateLimitLimit"];
                    "X-RateLimit-Remaining": components["headers"]["RateLimitRemaining"];
                    "X-RateLimit-Reset": components["headers"]["RateLimitReset"];
                    "x-request-id": components["headers"]["RequestId"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkerV2"];
                };
            };
            304: components["responses"]["NotModified"];
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["WorkerNotFound"];
            405: components["responses"]["MethodNotAllowed"];
            406: components["responses"]["NotAcceptable"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
}
