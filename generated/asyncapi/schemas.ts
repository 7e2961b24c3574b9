// Made by `make generate` from the contracts. Do not edit.

/** JSON Schema (draft 7) of every payload; compile it with ajv under an id of your choice. */
export const eventSchemas = {
  "definitions": {
    "WebhookHeaders": {
      "title": "WebhookHeaders",
      "description": "The headers of every delivery.",
      "type": "object",
      "required": [
        "Content-Type",
        "User-Agent",
        "webhook-id",
        "webhook-timestamp",
        "webhook-signature"
      ],
      "properties": {
        "Content-Type": {
          "description": "The body is JSON, in UTF-8.",
          "type": "string",
          "const": "application/json"
        },
        "User-Agent": {
          "description": "The sender and its version.",
          "type": "string",
          "pattern": "^IntegrationService-Webhooks/[0-9]+\\.[0-9]+\\.[0-9]+"
        },
        "webhook-id": {
          "$ref": "#/definitions/EventId"
        },
        "webhook-timestamp": {
          "description": "When this attempt was sent, in whole seconds since 1970. Each attempt has its own.",
          "type": "string",
          "pattern": "^[1-9][0-9]{9,11}$"
        },
        "webhook-signature": {
          "description": "`v1,` and the base64 of the HMAC-SHA256 of the signed content. While a secret is being replaced there is one signature for each secret in force, with a space between them; one that verifies is enough.",
          "type": "string",
          "pattern": "^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$"
        },
        "traceparent": {
          "description": "The trace of the change, by W3C Trace Context. Sent only while the operator of the service traces requests, and not signed.",
          "type": "string",
          "pattern": "^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$"
        }
      }
    },
    "EventSequence": {
      "title": "EventSequence",
      "description": "Orders the events of one `entity` as their changes were made: of two, the one with the greater number is newer, also where `occurredAt` is the same. It says nothing about events of different entities, and differences between numbers mean nothing.",
      "type": "integer",
      "format": "int64",
      "minimum": 1
    },
    "TestMark": {
      "title": "TestMark",
      "description": "`true` in a test event, which the operator sent on request; absent in all others. Nothing happened: `entity` and `data` are the sample of this document, and `links.self` leads to the sample of its client, user, worker or organization structure at the gateway. That sample is the same for all event types, so it can differ from `data`.",
      "type": "boolean",
      "const": true
    },
    "ClientCreatedEvent": {
      "title": "ClientCreatedEvent",
      "description": "A new client was created on an instance. Its workers, users and structure are not embedded; each has events of its own.",
      "type": "object",
      "required": [
        "id",
        "type",
        "specVersion",
        "dataVersion",
        "occurredAt",
        "sequence",
        "entity",
        "data"
      ],
      "properties": {
        "id": {
          "$ref": "#/definitions/EventId"
        },
        "type": {
          "description": "Type of the event.",
          "type": "string",
          "const": "client.created"
        },
        "specVersion": {
          "description": "Version of the envelope. Added members do not change it.",
          "type": "integer",
          "const": 1
        },
        "dataVersion": {
          "description": "Version of `data`. Added members do not change it.",
          "type": "integer",
          "const": 1
        },
        "occurredAt": {
          "description": "When it happened. ISO 8601, UTC.",
          "type": "string",
          "format": "date-time"
        },
        "sequence": {
          "$ref": "#/definitions/EventSequence"
        },
        "test": {
          "$ref": "#/definitions/TestMark"
        },
        "entity": {
          "$ref": "#/definitions/ClientEntity"
        },
        "data": {
          "$ref": "#/definitions/ClientCreatedData"
        }
      }
    },
    "UserCreatedEvent": {
      "title": "UserCreatedEvent",
      "description": "A user was created, and has by now the manager and the role that it begins with, if any: either can be `null`.",
      "type": "object",
      "required": [
        "id",
        "type",
        "specVersion",
        "dataVersion",
        "occurredAt",
        "sequence",
        "entity",
        "data"
      ],
      "properties": {
        "id": {
          "$ref": "#/definitions/EventId"
        },
        "type": {
          "description": "Type of the event.",
          "type": "string",
          "const": "user.created"
        },
        "specVersion": {
          "description": "Version of the envelope. Added members do not change it.",
          "type": "integer",
          "const": 1
        },
        "dataVersion": {
          "description": "Version of `data`. Added members do not change it.",
          "type": "integer",
          "const": 1
        },
        "occurredAt": {
          "description": "When it happened. ISO 8601, UTC.",
          "type": "string",
          "format": "date-time"
        },
        "sequence": {
          "$ref": "#/definitions/EventSequence"
        },
        "test": {
          "$ref": "#/definitions/TestMark"
        },
        "entity": {
          "$ref": "#/definitions/UserEntity"
        },
        "data": {
          "$ref": "#/definitions/UserEventData"
        }
      }
    },
    "UserUpdatedEvent": {
      "title": "UserUpdatedEvent",
      "description": "The email, a name, the status, the manager or the role of a user changed. Editing the permissions of a user can put a new custom role in the place of the old one, which is a change of role. The event may come before `user.created` or before `client.created`: insert or update by `userId`. A new name or address of the manager comes as an event of the manager alone, although the `manager` of these users changes: look managers up by `manager.id`, read the list of users, or follow `listChanges`, which has these users too. A deleted user has another event only if its role is deleted, or if the person is erased: then the names are `null` and the email is replaced. Erase them in your copy too.",
      "type": "object",
      "required": [
        "id",
        "type",
        "specVersion",
        "dataVersion",
        "occurredAt",
        "sequence",
        "entity",
        "data"
      ],
      "properties": {
        "id": {
          "$ref": "#/definitions/EventId"
        },
        "type": {
          "description": "Type of the event.",
          "type": "string",
          "const": "user.updated"
        },
        "specVersion": {
          "description": "Version of the envelope. Added members do not change it.",
          "type": "integer",
          "const": 1
        },
        "dataVersion": {
          "description": "Version of `data`. Added members do not change it.",
          "type": "integer",
          "const": 1
        },
        "occurredAt": {
          "description": "When it happened. ISO 8601, UTC.",
          "type": "string",
          "format": "date-time"
        },
        "sequence": {
          "$ref": "#/definitions/EventSequence"
        },
        "test": {
          "$ref": "#/definitions/TestMark"
        },
        "entity": {
          "$ref": "#/definitions/UserEntity"
        },
        "data": {
          "$ref": "#/definitions/UserEventData"
        }
      }
    },
    "OrganizationUnitCreatedEvent": {
      "title": "OrganizationUnitCreatedEvent",
      "description": "A unit of the organization structure was created. Comes once for each unit, those created together with their unit type included. It may come before the event of its parent unit or of its unit type.",
      "type": "object",
      "required": [
        "id",
        "type",
        "specVersion",
        "dataVersion",
        "occurredAt",
        "sequence",
        "entity",
        "data"
      ],
      "properties": {
        "id": {
          "$ref": "#/definitions/EventId"
        },
        "type": {
          "description": "Type of the event.",
          "type": "string",
          "const": "organization_unit.created"
        },
        "specVersion": {
          "description": "Version of the envelope. Added members do not change it.",
          "type": "integer",
          "const": 1
        },
        "dataVersion": {
          "description": "Version of `data`. Added members do not change it.",
          "type": "integer",
          "const": 1
        },
        "occurredAt": {
          "description": "When it happened. ISO 8601, UTC.",
          "type": "string",
          "format": "date-time"
        },
        "sequence": {
          "$ref": "#/definitions/EventSequence"
        },
        "test": {
          "$ref": "#/definitions/TestMark"
        },
        "entity": {
          "$ref": "#/definitions/OrganizationUnitEntity"
        },
        "data": {
          "$ref": "#/definitions/OrganizationUnitCreatedData"
        }
      }
    },
    "OrganizationUnitTypeCreatedEvent": {
      "title": "OrganizationUnitTypeCreatedEvent",
      "description": "A layer of the organization structure was created. The units created with it are embedded, and each also has its own `organization_unit.created`.",
      "type": "object",
      "required": [
        "id",
        "type",
        "specVersion",
        "dataVersion",
        "occurredAt",
        "sequence",
        "entity",
        "data"
      ],
      "properties": {
        "id": {
          "$ref": "#/definitions/EventId"
        },
        "type": {
          "description": "Type of the event.",
          "type": "string",
          "const": "organization_unit_type.created"
        },
        "specVersion": {
          "description": "Version of the envelope. Added members do not change it.",
          "type": "integer",
          "const": 1
        },
        "dataVersion": {
          "description": "Version of `data`. Added members do not change it.",
          "type": "integer",
          "const": 1
        },
        "occurredAt": {
          "description": "When it happened. ISO 8601, UTC.",
          "type": "string",
          "format": "date-time"
        },
        "sequence": {
          "$ref": "#/definitions/EventSequence"
        },
        "test": {
          "$ref": "#/definitions/TestMark"
        },
        "entity": {
          "$ref": "#/definitions/OrganizationUnitTypeEntity"
        },
        "data": {
          "$ref": "#/definitions/OrganizationUnitTypeCreatedData"
        }
      }
    },
    "OrganizationLocationCreatedEvent": {
      "title": "OrganizationLocationCreatedEvent",
      "description": "A location of a client was created.",
      "type": "object",
      "required": [
        "id",
        "type",
        "specVersion",
        "dataVersion",
        "occurredAt",
        "sequence",
        "entity",
        "data"
      ],
      "properties": {
        "id": {
          "$ref": "#/definitions/EventId"
        },
        "type": {
          "description": "Type of the event.",
          "type": "string",
          "const": "organization_location.created"
        },
        "specVersion": {
          "description": "Version of the envelope. Added members do not change it.",
          "type": "integer",
          "const": 1
        },
        "dataVersion": {
          "description": "Version of `data`. Added members do not change it.",
          "type": "integer",
          "const": 1
        },
        "occurredAt": {
          "description": "When it happened. ISO 8601, UTC.",
          "type": "string",
          "format": "date-time"
        },
        "sequence": {
          "$ref": "#/definitions/EventSequence"
        },
        "test": {
          "$ref": "#/definitions/TestMark"
        },
        "entity": {
          "$ref": "#/definitions/OrganizationLocationEntity"
        },
        "data": {
          "$ref": "#/definitions/OrganizationLocationCreatedData"
        }
      }
    },
    "OrganizationLocationDeletedEvent": {
      "title": "OrganizationLocationDeletedEvent",
      "description": "A location of a client was removed. The data is what the location was at that moment. `links.self` leads to the organization structure, which no longer lists it. Each worker who was there has a `worker.updated`.",
      "type": "object",
      "required": [
        "id",
        "type",
        "specVersion",
        "dataVersion",
        "occurredAt",
        "sequence",
        "entity",
        "data"
      ],
      "properties": {
        "id": {
          "$ref": "#/definitions/EventId"
        },
        "type": {
          "description": "Type of the event.",
          "type": "string",
          "const": "organization_location.deleted"
        },
        "specVersion": {
          "description": "Version of the envelope. Added members do not change it.",
          "type": "integer",
          "const": 1
        },
        "dataVersion": {
          "description": "Version of `data`. Added members do not change it.",
          "type": "integer",
          "const": 1
        },
        "occurredAt": {
          "description": "When it happened. ISO 8601, UTC.",
          "type": "string",
          "format": "date-time"
        },
        "sequence": {
          "$ref": "#/definitions/EventSequence"
        },
        "test": {
          "$ref": "#/definitions/TestMark"
        },
        "entity": {
          "$ref": "#/definitions/OrganizationLocationEntity"
        },
        "data": {
          "$ref": "#/definitions/OrganizationLocationDeletedData"
        }
      }
    },
    "WorkerOnboardedEvent": {
      "title": "WorkerOnboardedEvent",
      "description": "A worker was onboarded.",
      "type": "object",
      "required": [
        "id",
        "type",
        "specVersion",
        "dataVersion",
        "occurredAt",
        "sequence",
        "entity",
        "data"
      ],
      "properties": {
        "id": {
          "$ref": "#/definitions/EventId"
        },
        "type": {
          "description": "Type of the event.",
          "type": "string",
          "const": "worker.onboarded"
        },
        "specVersion": {
          "description": "Version of the envelope. Added members do not change it.",
          "type": "integer",
          "const": 1
        },
        "dataVersion": {
          "description": "Version of `data`. Added members do not change it.",
          "type": "integer",
          "const": 1
        },
        "occurredAt": {
          "description": "When it happened. ISO 8601, UTC.",
          "type": "string",
          "format": "date-time"
        },
        "sequence": {
          "$ref": "#/definitions/EventSequence"
        },
        "test": {
          "$ref": "#/definitions/TestMark"
        },
        "entity": {
          "$ref": "#/definitions/WorkerEntity"
        },
        "data": {
          "$ref": "#/definitions/WorkerEventData"
        }
      }
    },
    "WorkerUpdatedEvent": {
      "title": "WorkerUpdatedEvent",
      "description": "Something of a worker changed. Comes also once for each worker who loses the location because it was deleted, or whose unit, location or job title gets a new name, and when a worker is offboarded: then `offboardedAt` has the time. An offboarded worker has another event only if its location is deleted, or if the person is erased: then the names and the email are replaced, and phone and address are `null`. Erase them in your copy too.",
      "type": "object",
      "required": [
        "id",
        "type",
        "specVersion",
        "dataVersion",
        "occurredAt",
        "sequence",
        "entity",
        "data"
      ],
      "properties": {
        "id": {
          "$ref": "#/definitions/EventId"
        },
        "type": {
          "description": "Type of the event.",
          "type": "string",
          "const": "worker.updated"
        },
        "specVersion": {
          "description": "Version of the envelope. Added members do not change it.",
          "type": "integer",
          "const": 1
        },
        "dataVersion": {
          "description": "Version of `data`. Added members do not change it.",
          "type": "integer",
          "const": 1
        },
        "occurredAt": {
          "description": "When it happened. ISO 8601, UTC.",
          "type": "string",
          "format": "date-time"
        },
        "sequence": {
          "$ref": "#/definitions/EventSequence"
        },
        "test": {
          "$ref": "#/definitions/TestMark"
        },
        "entity": {
          "$ref": "#/definitions/WorkerEntity"
        },
        "data": {
          "$ref": "#/definitions/WorkerEventData"
        }
      }
    },
    "ClientEntity": {
      "title": "ClientEntity",
      "description": "The client, the same as `data.clientId`.",
      "type": "object",
      "required": [
        "type",
        "id"
      ],
      "properties": {
        "type": {
          "description": "Kind of the thing the event is about.",
          "type": "string",
          "const": "client"
        },
        "id": {
          "$ref": "#/definitions/ClientId"
        }
      }
    },
    "UserEntity": {
      "title": "UserEntity",
      "description": "The user, the same as `data.userId`.",
      "type": "object",
      "required": [
        "type",
        "id"
      ],
      "properties": {
        "type": {
          "description": "Kind of the thing the event is about.",
          "type": "string",
          "const": "user"
        },
        "id": {
          "$ref": "#/definitions/UserId"
        }
      }
    },
    "WorkerEntity": {
      "title": "WorkerEntity",
      "description": "The worker, the same as `data.workerId`.",
      "type": "object",
      "required": [
        "type",
        "id"
      ],
      "properties": {
        "type": {
          "description": "Kind of the thing the event is about.",
          "type": "string",
          "const": "worker"
        },
        "id": {
          "$ref": "#/definitions/WorkerId"
        }
      }
    },
    "OrganizationUnitEntity": {
      "title": "OrganizationUnitEntity",
      "description": "The unit, the same as `data.organizationUnitId`.",
      "type": "object",
      "required": [
        "type",
        "id"
      ],
      "properties": {
        "type": {
          "description": "Kind of the thing the event is about.",
          "type": "string",
          "const": "organizationUnit"
        },
        "id": {
          "$ref": "#/definitions/UnitId"
        }
      }
    },
    "OrganizationUnitTypeEntity": {
      "title": "OrganizationUnitTypeEntity",
      "description": "The unit type, the same as `data.organizationUnitTypeId`.",
      "type": "object",
      "required": [
        "type",
        "id"
      ],
      "properties": {
        "type": {
          "description": "Kind of the thing the event is about.",
          "type": "string",
          "const": "organizationUnitType"
        },
        "id": {
          "$ref": "#/definitions/UnitTypeId"
        }
      }
    },
    "OrganizationLocationEntity": {
      "title": "OrganizationLocationEntity",
      "description": "The location, the same as `data.organizationLocationId`.",
      "type": "object",
      "required": [
        "type",
        "id"
      ],
      "properties": {
        "type": {
          "description": "Kind of the thing the event is about.",
          "type": "string",
          "const": "organizationLocation"
        },
        "id": {
          "$ref": "#/definitions/LocationId"
        }
      }
    },
    "ClientCreatedData": {
      "title": "ClientCreatedData",
      "description": "The client as it was when the event happened. Mind that the address is called `address` here and `location` in the gateway.",
      "type": "object",
      "required": [
        "clientId",
        "name",
        "address",
        "links"
      ],
      "properties": {
        "clientId": {
          "$ref": "#/definitions/ClientId"
        },
        "name": {
          "description": "Name of the client.",
          "type": "string"
        },
        "address": {
          "$ref": "#/definitions/Address"
        },
        "links": {
          "$ref": "#/definitions/ClientLinks"
        }
      }
    },
    "UserEventData": {
      "title": "UserEventData",
      "description": "The user as it was when the event happened: the record of the gateway, and where to read it.",
      "type": "object",
      "required": [
        "userId",
        "clientId",
        "email",
        "firstName",
        "lastName",
        "fullName",
        "status",
        "manager",
        "role",
        "createdAt",
        "links"
      ],
      "properties": {
        "userId": {
          "$ref": "#/definitions/UserId"
        },
        "clientId": {
          "$ref": "#/definitions/ClientId"
        },
        "email": {
          "$ref": "#/definitions/EmailAddress"
        },
        "firstName": {
          "description": "Given name, or `null`.",
          "type": [
            "string",
            "null"
          ]
        },
        "lastName": {
          "description": "Family name, or `null`.",
          "type": [
            "string",
            "null"
          ]
        },
        "fullName": {
          "description": "Whole name, or `null`.",
          "type": [
            "string",
            "null"
          ]
        },
        "status": {
          "$ref": "#/definitions/UserStatus"
        },
        "manager": {
          "description": "The one manager of the user, or `null`. A single object, never an array.",
          "oneOf": [
            {
              "$ref": "#/definitions/UserManager"
            },
            {
              "type": "null"
            }
          ]
        },
        "role": {
          "description": "The access role of the user, at most one, or `null`. Match roles by `name`.",
          "oneOf": [
            {
              "$ref": "#/definitions/UserRole"
            },
            {
              "type": "null"
            }
          ]
        },
        "createdAt": {
          "description": "When the user was created. Never changes. ISO 8601, UTC.",
          "type": "string",
          "format": "date-time"
        },
        "links": {
          "$ref": "#/definitions/UserLinks"
        }
      }
    },
    "OrganizationUnitCreatedData": {
      "title": "OrganizationUnitCreatedData",
      "description": "The unit as it was when the event happened.",
      "type": "object",
      "required": [
        "organizationUnitId",
        "clientId",
        "name",
        "unitCode",
        "description",
        "unitType",
        "parentUnit",
        "createdAt",
        "links"
      ],
      "properties": {
        "organizationUnitId": {
          "$ref": "#/definitions/UnitId"
        },
        "clientId": {
          "$ref": "#/definitions/ClientId"
        },
        "name": {
          "description": "Name of the unit.",
          "type": "string"
        },
        "unitCode": {
          "description": "The code the client has for the unit in its own systems, or `null`.",
          "type": [
            "string",
            "null"
          ]
        },
        "description": {
          "description": "What the unit is, in the client's words, or `null`.",
          "type": [
            "string",
            "null"
          ]
        },
        "unitType": {
          "$ref": "#/definitions/NamedUnitType"
        },
        "parentUnit": {
          "description": "The unit above this one, or `null` for a top-level unit.",
          "oneOf": [
            {
              "$ref": "#/definitions/NamedUnit"
            },
            {
              "type": "null"
            }
          ]
        },
        "createdAt": {
          "description": "When the unit was created. ISO 8601, UTC.",
          "type": "string",
          "format": "date-time"
        },
        "links": {
          "$ref": "#/definitions/OrganizationStructureLinks"
        }
      }
    },
    "OrganizationUnitTypeCreatedData": {
      "title": "OrganizationUnitTypeCreatedData",
      "description": "The unit type as it was when the event happened, with the units created together with it.",
      "type": "object",
      "required": [
        "organizationUnitTypeId",
        "clientId",
        "name",
        "units",
        "createdAt",
        "links"
      ],
      "properties": {
        "organizationUnitTypeId": {
          "$ref": "#/definitions/UnitTypeId"
        },
        "clientId": {
          "$ref": "#/definitions/ClientId"
        },
        "name": {
          "description": "Name of the layer.",
          "type": "string"
        },
        "units": {
          "description": "The units created together with the unit type. May be empty.",
          "type": "array",
          "items": {
            "$ref": "#/definitions/EmbeddedUnit"
          }
        },
        "createdAt": {
          "description": "When the unit type was created. ISO 8601, UTC.",
          "type": "string",
          "format": "date-time"
        },
        "links": {
          "$ref": "#/definitions/OrganizationStructureLinks"
        }
      }
    },
    "EmbeddedUnit": {
      "title": "EmbeddedUnit",
      "description": "A unit created together with its unit type.",
      "type": "object",
      "required": [
        "organizationUnitId",
        "name",
        "unitCode",
        "description",
        "parentUnit"
      ],
      "properties": {
        "organizationUnitId": {
          "$ref": "#/definitions/UnitId"
        },
        "name": {
          "description": "Name of the unit.",
          "type": "string"
        },
        "unitCode": {
          "description": "The code the client has for the unit in its own systems, or `null`.",
          "type": [
            "string",
            "null"
          ]
        },
        "description": {
          "description": "What the unit is, in the client's words, or `null`.",
          "type": [
            "string",
            "null"
          ]
        },
        "parentUnit": {
          "description": "The unit above this one, or `null` for a top-level unit.",
          "oneOf": [
            {
              "$ref": "#/definitions/NamedUnit"
            },
            {
              "type": "null"
            }
          ]
        }
      }
    },
    "OrganizationLocationCreatedData": {
      "title": "OrganizationLocationCreatedData",
      "description": "The location as it was when the event happened.",
      "type": "object",
      "required": [
        "organizationLocationId",
        "clientId",
        "name",
        "address",
        "createdAt",
        "links"
      ],
      "properties": {
        "organizationLocationId": {
          "$ref": "#/definitions/LocationId"
        },
        "clientId": {
          "$ref": "#/definitions/ClientId"
        },
        "name": {
          "description": "Name of the location.",
          "type": "string"
        },
        "address": {
          "$ref": "#/definitions/Address"
        },
        "createdAt": {
          "description": "When the location was created. ISO 8601, UTC.",
          "type": "string",
          "format": "date-time"
        },
        "links": {
          "$ref": "#/definitions/OrganizationStructureLinks"
        }
      }
    },
    "OrganizationLocationDeletedData": {
      "title": "OrganizationLocationDeletedData",
      "description": "The location as it was when it was removed.",
      "type": "object",
      "required": [
        "organizationLocationId",
        "clientId",
        "name",
        "address",
        "createdAt",
        "deletedAt",
        "links"
      ],
      "properties": {
        "organizationLocationId": {
          "$ref": "#/definitions/LocationId"
        },
        "clientId": {
          "$ref": "#/definitions/ClientId"
        },
        "name": {
          "description": "Name of the location.",
          "type": "string"
        },
        "address": {
          "$ref": "#/definitions/Address"
        },
        "createdAt": {
          "description": "When the location was created. ISO 8601, UTC.",
          "type": "string",
          "format": "date-time"
        },
        "deletedAt": {
          "description": "When the location was removed. ISO 8601, UTC.",
          "type": "string",
          "format": "date-time"
        },
        "links": {
          "$ref": "#/definitions/OrganizationStructureLinks"
        }
      }
    },
    "WorkerEventData": {
      "title": "WorkerEventData",
      "description": "The worker as it was when the event happened: version 2 of the record of the gateway, and where to read it.",
      "type": "object",
      "required": [
        "workerId",
        "clientId",
        "firstName",
        "lastName",
        "fullName",
        "email",
        "phone",
        "jobTitles",
        "location",
        "organizationUnits",
        "organizationUnit",
        "organizationLocation",
        "createdAt",
        "links"
      ],
      "properties": {
        "workerId": {
          "$ref": "#/definitions/WorkerId"
        },
        "clientId": {
          "$ref": "#/definitions/ClientId"
        },
        "firstName": {
          "description": "Given name.",
          "type": "string"
        },
        "lastName": {
          "description": "Family name.",
          "type": "string"
        },
        "fullName": {
          "description": "Whole name, in the order in which the platform shows it.",
          "type": "string"
        },
        "email": {
          "$ref": "#/definitions/EmailAddress"
        },
        "phone": {
          "description": "Phone number as it was entered, or `null`.",
          "type": [
            "string",
            "null"
          ]
        },
        "jobTitles": {
          "description": "Job titles registered for the worker. May be empty.",
          "type": "array",
          "items": {
            "type": "string"
          }
        },
        "location": {
          "$ref": "#/definitions/Address"
        },
        "organizationUnits": {
          "description": "All organization units to which the worker is assigned. May be empty.",
          "type": "array",
          "items": {
            "$ref": "#/definitions/NamedUnit"
          }
        },
        "organizationUnit": {
          "description": "The primary one of `organizationUnits`, or `null` when the worker is assigned to none.",
          "oneOf": [
            {
              "$ref": "#/definitions/NamedUnit"
            },
            {
              "type": "null"
            }
          ]
        },
        "organizationLocation": {
          "description": "The organization location of the worker, or `null`.",
          "oneOf": [
            {
              "$ref": "#/definitions/NamedLocation"
            },
            {
              "type": "null"
            }
          ]
        },
        "offboardedAt": {
          "description": "When the worker was offboarded, or `null`. A `worker.updated` with a time here tells of the offboarding. Absent in events from before this member.",
          "type": [
            "string",
            "null"
          ],
          "format": "date-time"
        },
        "createdAt": {
          "description": "When the record of the worker was created. ISO 8601, UTC.",
          "type": "string",
          "format": "date-time"
        },
        "links": {
          "$ref": "#/definitions/WorkerLinks"
        }
      }
    },
    "ClientLinks": {
      "title": "ClientLinks",
      "description": "Where to read the client.",
      "type": "object",
      "required": [
        "self"
      ],
      "properties": {
        "self": {
          "description": "Path to read with GET at the gateway, with your API key. Your own instance integration is already in it.",
          "type": "string",
          "pattern": "^/v1/instance-integrations/iin_[0-9A-Za-z]{22}/clients/cli_[0-9A-Za-z]{22}$"
        }
      }
    },
    "UserLinks": {
      "title": "UserLinks",
      "description": "Where to read the user.",
      "type": "object",
      "required": [
        "self"
      ],
      "properties": {
        "self": {
          "description": "Path to read with GET at the gateway, with your API key. Your own instance integration is already in it.",
          "type": "string",
          "pattern": "^/v1/instance-integrations/iin_[0-9A-Za-z]{22}/clients/cli_[0-9A-Za-z]{22}/users/usr_[0-9A-Za-z]{22}$"
        }
      }
    },
    "WorkerLinks": {
      "title": "WorkerLinks",
      "description": "Where to read the worker.",
      "type": "object",
      "required": [
        "self"
      ],
      "properties": {
        "self": {
          "description": "Path to read with GET at the gateway, with your API key. Your own instance integration is already in it.",
          "type": "string",
          "pattern": "^/v2/instance-integrations/iin_[0-9A-Za-z]{22}/clients/cli_[0-9A-Za-z]{22}/workers/wrk_[0-9A-Za-z]{22}$"
        }
      }
    },
    "OrganizationStructureLinks": {
      "title": "OrganizationStructureLinks",
      "description": "Where to read the organization structure, in which to find the thing by its id.",
      "type": "object",
      "required": [
        "self"
      ],
      "properties": {
        "self": {
          "description": "Path to read with GET at the gateway, with your API key. Your own instance integration is already in it.",
          "type": "string",
          "pattern": "^/v[12]/instance-integrations/iin_[0-9A-Za-z]{22}/clients/cli_[0-9A-Za-z]{22}/[a-z-]+(/[0-9A-Za-z_]+)?$"
        }
      }
    },
    "EventId": {
      "title": "EventId",
      "description": "Public id of an event. The same in every delivery of that event: dedupe on it.",
      "type": "string",
      "pattern": "^evt_[0-9A-Za-z]{22}$"
    },
    "ClientId": {
      "title": "ClientId",
      "description": "Public id of a client: a tenant of an instance.",
      "type": "string",
      "pattern": "^cli_[0-9A-Za-z]{22}$"
    },
    "Address": {
      "title": "Address",
      "description": "A postal address. All six members are always present; what is not known is `null`.",
      "type": "object",
      "required": [
        "address1",
        "address2",
        "city",
        "isoCountryCode",
        "postalCode",
        "zoneCode"
      ],
      "properties": {
        "address1": {
          "description": "Street and number.",
          "type": [
            "string",
            "null"
          ]
        },
        "address2": {
          "description": "Floor, suite or building.",
          "type": [
            "string",
            "null"
          ]
        },
        "city": {
          "description": "City or town.",
          "type": [
            "string",
            "null"
          ]
        },
        "isoCountryCode": {
          "description": "Country, as two capital letters of ISO 3166-1 alpha-2.",
          "type": [
            "string",
            "null"
          ],
          "pattern": "^[A-Z]{2}$"
        },
        "postalCode": {
          "description": "Postal or ZIP code.",
          "type": [
            "string",
            "null"
          ]
        },
        "zoneCode": {
          "description": "Code of the state or province.",
          "type": [
            "string",
            "null"
          ]
        }
      }
    },
    "UserId": {
      "title": "UserId",
      "description": "Public id of a user: a person who can sign in to the dashboard on behalf of a client.",
      "type": "string",
      "pattern": "^usr_[0-9A-Za-z]{22}$"
    },
    "EmailAddress": {
      "title": "EmailAddress",
      "description": "An email address in ASCII of at most 254 characters, with an international domain in Punycode. The platform\naccepts no other. A person whose address is older than this rule keeps it for signing in; here it is shown in\nPunycode where that suffices, otherwise as an address of the reserved domain `address.invalid`. A person who was\nerased has an address of the reserved domain `erased.invalid`.",
      "type": "string",
      "format": "email",
      "maxLength": 254,
      "pattern": "^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-](?:\\.?[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]){0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$"
    },
    "UserStatus": {
      "title": "UserStatus",
      "description": "The status of a user:\n\n- `INVITED`: the person has not signed in as this user yet.\n- `ACTIVE`: may sign in. An invited user becomes active when the person first signs in as this user.\n- `INACTIVE`: was disabled by an administrator and may not sign in.\n- `DELETED`: was removed. Omitted from lists; can be read by id.",
      "type": "string",
      "enum": [
        "ACTIVE",
        "INACTIVE",
        "INVITED",
        "DELETED"
      ]
    },
    "UserManager": {
      "title": "UserManager",
      "description": "The manager of a user, who is a user of the same client.",
      "type": "object",
      "required": [
        "id",
        "firstName",
        "lastName",
        "fullName",
        "email"
      ],
      "properties": {
        "id": {
          "$ref": "#/definitions/UserId"
        },
        "firstName": {
          "description": "Given name, or `null`.",
          "type": [
            "string",
            "null"
          ]
        },
        "lastName": {
          "description": "Family name, or `null`.",
          "type": [
            "string",
            "null"
          ]
        },
        "fullName": {
          "description": "Whole name, in the order in which the platform shows it, or `null`.",
          "type": [
            "string",
            "null"
          ]
        },
        "email": {
          "$ref": "#/definitions/EmailAddress"
        }
      }
    },
    "UserRole": {
      "title": "UserRole",
      "description": "The access role of a user. Match roles by `name`: editing the permissions of a user can put a new custom role, with a new `id`, in the place of the old one.",
      "type": "object",
      "required": [
        "id",
        "name"
      ],
      "properties": {
        "id": {
          "description": "Internal id of the access role. It is not a public id, has no fixed shape and opens no endpoint.",
          "type": "string"
        },
        "name": {
          "description": "Name of the role, such as Owner or Admin, or the name of a custom role.",
          "type": "string"
        }
      }
    },
    "UnitId": {
      "title": "UnitId",
      "description": "Public id of an organization unit, such as the department Engineering.",
      "type": "string",
      "pattern": "^oun_[0-9A-Za-z]{22}$"
    },
    "UnitTypeId": {
      "title": "UnitTypeId",
      "description": "Public id of an organization unit type: a layer of the structure of a client, such as Department.",
      "type": "string",
      "pattern": "^out_[0-9A-Za-z]{22}$"
    },
    "NamedUnitType": {
      "title": "NamedUnitType",
      "description": "A reference to an organization unit type, with its name.",
      "type": "object",
      "required": [
        "id",
        "name"
      ],
      "properties": {
        "id": {
          "$ref": "#/definitions/UnitTypeId"
        },
        "name": {
          "description": "Name of the unit type.",
          "type": "string"
        }
      }
    },
    "NamedUnit": {
      "title": "NamedUnit",
      "description": "A reference to an organization unit, with its name.",
      "type": "object",
      "required": [
        "id",
        "name"
      ],
      "properties": {
        "id": {
          "$ref": "#/definitions/UnitId"
        },
        "name": {
          "description": "Name of the unit.",
          "type": "string"
        }
      }
    },
    "LocationId": {
      "title": "LocationId",
      "description": "Public id of an organization location: a place where a client has workers.",
      "type": "string",
      "pattern": "^olo_[0-9A-Za-z]{22}$"
    },
    "WorkerId": {
      "title": "WorkerId",
      "description": "Public id of a worker: an employee or contractor of a client who receives payroll.",
      "type": "string",
      "pattern": "^wrk_[0-9A-Za-z]{22}$"
    },
    "NamedLocation": {
      "title": "NamedLocation",
      "description": "A reference to an organization location, with its name.",
      "type": "object",
      "required": [
        "id",
        "name"
      ],
      "properties": {
        "id": {
          "$ref": "#/definitions/LocationId"
        },
        "name": {
          "description": "Name of the location.",
          "type": "string"
        }
      }
    }
  }
} as const;

/** Where in it the payload of each event type stands. */
export const payloadSchemaOf = {
  'client.created': '#/definitions/ClientCreatedEvent',
  'user.created': '#/definitions/UserCreatedEvent',
  'user.updated': '#/definitions/UserUpdatedEvent',
  'organization_unit.created': '#/definitions/OrganizationUnitCreatedEvent',
  'organization_unit_type.created': '#/definitions/OrganizationUnitTypeCreatedEvent',
  'organization_location.created': '#/definitions/OrganizationLocationCreatedEvent',
  'organization_location.deleted': '#/definitions/OrganizationLocationDeletedEvent',
  'worker.onboarded': '#/definitions/WorkerOnboardedEvent',
  'worker.updated': '#/definitions/WorkerUpdatedEvent',
} as const;

/** Where in it the request headers of every delivery stand. */
export const HEADERS_SCHEMA = '#/definitions/WebhookHeaders';
