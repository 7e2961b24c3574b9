# Made by `make generate` from the contracts. Do not edit.
"""The records of the gateway. Attributes are in snake case: ``worker.first_name``."""

from integration_gateway import Address, ApplicationInstance, ChangesDigest, EntityDigest, InstanceIntegration, NamedLocation, NamedUnit, OrganizationLocation, OrganizationStructure, ProblemCode, TenantClient, Unit, UnitType, User, UserManager, UserRole, UserStatus, Worker, WorkerV2

Client = TenantClient
"""Another name, which earlier releases have."""

__all__ = ["Address", "ApplicationInstance", "ChangesDigest", "Client", "EntityDigest", "InstanceIntegration", "NamedLocation", "NamedUnit", "OrganizationLocation", "OrganizationStructure", "ProblemCode", "TenantClient", "Unit", "UnitType", "User", "UserManager", "UserRole", "UserStatus", "Worker", "WorkerV2"]
