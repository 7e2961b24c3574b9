// Made by `make generate` from the contracts. Do not edit.
import type { EventsByType, EventType } from './events.js';

/** The first example of each event type, in the order of the contract. */
export const exampleEvents: { readonly [T in EventType]: EventsByType[T] } = {
  "client.created": {
    "id": "evt_Iha48st73YzZp4WjswGJag",
    "type": "client.created",
    "specVersion": 1,
    "dataVersion": 1,
    "occurredAt": "2026-07-01T09:00:00.120Z",
    "sequence": 1782896400120,
    "entity": {
      "type": "client",
      "id": "cli_4Fqnh5226raKAAEIfY2jwW"
    },
    "data": {
      "clientId": "cli_4Fqnh5226raKAAEIfY2jwW",
      "name": "Tallowfern Bakeries",
      "address": {
        "address1": "18 Harbour Street",
        "address2": "Suite 400",
        "city": "Portland",
        "isoCountryCode": "US",
        "postalCode": "04101",
        "zoneCode": "ME"
      },
      "links": {
        "self": "/v1/instance-integrations/iin_HnuQOy4YQg1OdOSCDbMAkY/clients/cli_4Fqnh5226raKAAEIfY2jwW"
      }
    }
  },
  "user.created": {
    "id": "evt_6EdKgZDSUYKxtce3Ewx829",
    "type": "user.created",
    "specVersion": 1,
    "dataVersion": 1,
    "occurredAt": "2025-12-01T08:30:00.000Z",
    "sequence": 1764577800000,
    "entity": {
      "type": "user",
      "id": "usr_HCZONjGb2Vig7IXUdMsJi5"
    },
    "data": {
      "userId": "usr_HCZONjGb2Vig7IXUdMsJi5",
      "clientId": "cli_4Fqnh5226raKAAEIfY2jwW",
      "email": "priya.raman@example.com",
      "firstName": "Priya",
      "lastName": "Raman",
      "fullName": "Priya Raman",
      "status": "INVITED",
      "manager": {
        "id": "usr_3v6gW3F0fg0fVz3fOAPA8X",
        "firstName": "Tobias",
        "lastName": "Lindqvist",
        "fullName": "Tobias Lindqvist",
        "email": "tobias.lindqvist@example.com"
      },
      "role": {
        "id": "5mQ8LtYcRz0WvKxB3nHdPf",
        "name": "Admin"
      },
      "createdAt": "2025-12-01T08:30:00.000Z",
      "links": {
        "self": "/v1/instance-integrations/iin_HnuQOy4YQg1OdOSCDbMAkY/clients/cli_4Fqnh5226raKAAEIfY2jwW/users/usr_HCZONjGb2Vig7IXUdMsJi5"
      }
    }
  },
  "user.updated": {
    "id": "evt_6m4lF5Y992FMtrx3qnxaRr",
    "type": "user.updated",
    "specVersion": 1,
    "dataVersion": 1,
    "occurredAt": "2026-07-02T14:21:09.885Z",
    "sequence": 1783002069885,
    "entity": {
      "type": "user",
      "id": "usr_HCZONjGb2Vig7IXUdMsJi5"
    },
    "data": {
      "userId": "usr_HCZONjGb2Vig7IXUdMsJi5",
      "clientId": "cli_4Fqnh5226raKAAEIfY2jwW",
      "email": "priya.raman@example.com",
      "firstName": "Priya",
      "lastName": "Raman",
      "fullName": "Priya Raman",
      "status": "ACTIVE",
      "manager": {
        "id": "usr_3v6gW3F0fg0fVz3fOAPA8X",
        "firstName": "Tobias",
        "lastName": "Lindqvist",
        "fullName": "Tobias Lindqvist",
        "email": "tobias.lindqvist@example.com"
      },
      "role": {
        "id": "1JkVw7NpXs4TgDqE9uZbCa",
        "name": "Payroll reviewer"
      },
      "createdAt": "2025-12-01T08:30:00.000Z",
      "links": {
        "self": "/v1/instance-integrations/iin_HnuQOy4YQg1OdOSCDbMAkY/clients/cli_4Fqnh5226raKAAEIfY2jwW/users/usr_HCZONjGb2Vig7IXUdMsJi5"
      }
    }
  },
  "organization_unit.created": {
    "id": "evt_PzANaMIIg01VPvuLQgMK1G",
    "type": "organization_unit.created",
    "specVersion": 1,
    "dataVersion": 1,
    "occurredAt": "2026-07-03T07:45:30.002Z",
    "sequence": 1783064730002,
    "entity": {
      "type": "organizationUnit",
      "id": "oun_2nVOy3MKatelh8vR5ZrA0v"
    },
    "data": {
      "organizationUnitId": "oun_2nVOy3MKatelh8vR5ZrA0v",
      "clientId": "cli_4Fqnh5226raKAAEIfY2jwW",
      "name": "Kitchen",
      "unitCode": "KIT-01",
      "description": "Prepares everything that is served warm",
      "unitType": {
        "id": "out_TSbPa2GCEFvvseyQI61e3c",
        "name": "Department"
      },
      "parentUnit": {
        "id": "oun_AY6lBH6YKoJweoV8pLiPU2",
        "name": "Production"
      },
      "createdAt": "2026-07-03T07:45:30.002Z",
      "links": {
        "self": "/v1/instance-integrations/iin_HnuQOy4YQg1OdOSCDbMAkY/clients/cli_4Fqnh5226raKAAEIfY2jwW/organization-structure"
      }
    }
  },
  "organization_unit_type.created": {
    "id": "evt_JIY0c9KOUd0yomwwcTKZwi",
    "type": "organization_unit_type.created",
    "specVersion": 1,
    "dataVersion": 1,
    "occurredAt": "2026-07-03T07:40:11.514Z",
    "sequence": 1783064411514,
    "entity": {
      "type": "organizationUnitType",
      "id": "out_k2IAc77Axq0Kx0eMtCbk3e"
    },
    "data": {
      "organizationUnitTypeId": "out_k2IAc77Axq0Kx0eMtCbk3e",
      "clientId": "cli_4Fqnh5226raKAAEIfY2jwW",
      "name": "Division",
      "units": [
        {
          "organizationUnitId": "oun_AY6lBH6YKoJweoV8pLiPU2",
          "name": "Production",
          "unitCode": null,
          "description": null,
          "parentUnit": null
        }
      ],
      "createdAt": "2026-07-03T07:40:11.514Z",
      "links": {
        "self": "/v1/instance-integrations/iin_HnuQOy4YQg1OdOSCDbMAkY/clients/cli_4Fqnh5226raKAAEIfY2jwW/organization-structure"
      }
    }
  },
  "organization_location.created": {
    "id": "evt_17Q6fWQV13OYRKMrWd22eY",
    "type": "organization_location.created",
    "specVersion": 1,
    "dataVersion": 1,
    "occurredAt": "2026-07-04T11:05:52.731Z",
    "sequence": 1783163152731,
    "entity": {
      "type": "organizationLocation",
      "id": "olo_vIjZX8fbgjZo5Hb4eb8gL9"
    },
    "data": {
      "organizationLocationId": "olo_vIjZX8fbgjZo5Hb4eb8gL9",
      "clientId": "cli_4Fqnh5226raKAAEIfY2jwW",
      "name": "Old Port Bakery",
      "address": {
        "address1": "3 Cooper Wharf",
        "address2": null,
        "city": "Portland",
        "isoCountryCode": "US",
        "postalCode": "04101",
        "zoneCode": "ME"
      },
      "createdAt": "2026-07-04T11:05:52.731Z",
      "links": {
        "self": "/v1/instance-integrations/iin_HnuQOy4YQg1OdOSCDbMAkY/clients/cli_4Fqnh5226raKAAEIfY2jwW/organization-structure"
      }
    }
  },
  "organization_location.deleted": {
    "id": "evt_wdKzb4QcpCSQbSGGg2G5P4",
    "type": "organization_location.deleted",
    "specVersion": 1,
    "dataVersion": 1,
    "occurredAt": "2026-09-30T16:30:00.410Z",
    "sequence": 1790785800410,
    "entity": {
      "type": "organizationLocation",
      "id": "olo_vIjZX8fbgjZo5Hb4eb8gL9"
    },
    "data": {
      "organizationLocationId": "olo_vIjZX8fbgjZo5Hb4eb8gL9",
      "clientId": "cli_4Fqnh5226raKAAEIfY2jwW",
      "name": "Old Port Bakery",
      "address": {
        "address1": "3 Cooper Wharf",
        "address2": null,
        "city": "Portland",
        "isoCountryCode": "US",
        "postalCode": "04101",
        "zoneCode": "ME"
      },
      "createdAt": "2026-07-04T11:05:52.731Z",
      "deletedAt": "2026-09-30T16:30:00.410Z",
      "links": {
        "self": "/v1/instance-integrations/iin_HnuQOy4YQg1OdOSCDbMAkY/clients/cli_4Fqnh5226raKAAEIfY2jwW/organization-structure"
      }
    }
  },
  "worker.onboarded": {
    "id": "evt_ibn4Co6joT9FF91Bn1q1iB",
    "type": "worker.onboarded",
    "specVersion": 1,
    "dataVersion": 1,
    "occurredAt": "2026-01-12T10:15:27.640Z",
    "sequence": 1768212927640,
    "entity": {
      "type": "worker",
      "id": "wrk_l50ycP5H6CnQHxa7Xt2y3d"
    },
    "data": {
      "workerId": "wrk_l50ycP5H6CnQHxa7Xt2y3d",
      "clientId": "cli_4Fqnh5226raKAAEIfY2jwW",
      "firstName": "Maren",
      "lastName": "Okafor",
      "fullName": "Maren Okafor",
      "email": "maren.okafor@example.com",
      "phone": "+1 207 555 0142",
      "jobTitles": [
        "Line Cook",
        "Shift Lead"
      ],
      "location": {
        "address1": "7 Larch Lane",
        "address2": null,
        "city": "South Portland",
        "isoCountryCode": "US",
        "postalCode": "04106",
        "zoneCode": "ME"
      },
      "organizationUnits": [
        {
          "id": "oun_2nVOy3MKatelh8vR5ZrA0v",
          "name": "Kitchen"
        },
        {
          "id": "oun_CZ7pwe6Bh1xZ6JnU4e3c4m",
          "name": "Pastry"
        }
      ],
      "organizationUnit": {
        "id": "oun_2nVOy3MKatelh8vR5ZrA0v",
        "name": "Kitchen"
      },
      "organizationLocation": {
        "id": "olo_vIjZX8fbgjZo5Hb4eb8gL9",
        "name": "Old Port Bakery"
      },
      "offboardedAt": null,
      "createdAt": "2026-01-12T10:15:27.640Z",
      "links": {
        "self": "/v2/instance-integrations/iin_HnuQOy4YQg1OdOSCDbMAkY/clients/cli_4Fqnh5226raKAAEIfY2jwW/workers/wrk_l50ycP5H6CnQHxa7Xt2y3d"
      }
    }
  },
  "worker.updated": {
    "id": "evt_G0c6N1Og8PCpASLUId6dwN",
    "type": "worker.updated",
    "specVersion": 1,
    "dataVersion": 1,
    "occurredAt": "2026-09-30T16:30:00.410Z",
    "sequence": 1790785800410,
    "entity": {
      "type": "worker",
      "id": "wrk_l50ycP5H6CnQHxa7Xt2y3d"
    },
    "data": {
      "workerId": "wrk_l50ycP5H6CnQHxa7Xt2y3d",
      "clientId": "cli_4Fqnh5226raKAAEIfY2jwW",
      "firstName": "Maren",
      "lastName": "Okafor",
      "fullName": "Maren Okafor",
      "email": "maren.okafor@example.com",
      "phone": "+1 207 555 0142",
      "jobTitles": [
        "Line Cook",
        "Shift Lead"
      ],
      "location": {
        "address1": "7 Larch Lane",
        "address2": null,
        "city": "South Portland",
        "isoCountryCode": "US",
        "postalCode": "04106",
        "zoneCode": "ME"
      },
      "organizationUnits": [
        {
          "id": "oun_2nVOy3MKatelh8vR5ZrA0v",
          "name": "Kitchen"
        },
        {
          "id": "oun_CZ7pwe6Bh1xZ6JnU4e3c4m",
          "name": "Pastry"
        }
      ],
      "organizationUnit": {
        "id": "oun_2nVOy3MKatelh8vR5ZrA0v",
        "name": "Kitchen"
      },
      "organizationLocation": null,
      "offboardedAt": null,
      "createdAt": "2026-01-12T10:15:27.640Z",
      "links": {
        "self": "/v2/instance-integrations/iin_HnuQOy4YQg1OdOSCDbMAkY/clients/cli_4Fqnh5226raKAAEIfY2jwW/workers/wrk_l50ycP5H6CnQHxa7Xt2y3d"
      }
    }
  }
};
