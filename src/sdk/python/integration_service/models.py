"""The records of the gateway. Attributes are in snake case: ``worker.first_name``."""

from integration_gateway.models.address import Address
from integration_gateway.models.application_instance import ApplicationInstance
from integration_gateway.models.changes_digest import ChangesDigest
from integration_gateway.models.entity_digest import EntityDigest
from integration_gateway.models.instance_integration import InstanceIntegration
from integration_gateway.models.named_location import NamedLocation
from integration_gateway.models.named_unit import NamedUnit
from integration_gateway.models.organization_location import OrganizationLocation
from integration_gateway.models.organization_structure import OrganizationStructure
from integration_gateway.models.problem_code import ProblemCode
from integration_gateway.models.tenant_client import TenantClient
from integration_gateway.models.unit import Unit
from integration_gateway.models.unit_type import UnitType
from integration_gateway.models.user import User
from integration_gateway.models.user_manager import UserManager
from integration_gateway.models.user_role import UserRole
from integration_gateway.models.user_status import UserStatus
from integration_gateway.models.worker import Worker
from integration_gateway.models.worker_v2 import WorkerV2

Client = TenantClient
"""Another name, which earlier releases have."""

__all__ = [
    "Address",
    "ApplicationInstance",
    "ChangesDigest",
    "Client",
    "EntityDigest",
    "InstanceIntegration",
    "NamedLocation",
    "NamedUnit",
    "OrganizationLocation",
    "OrganizationStructure",
    "ProblemCode",
    "TenantClient",
    "Unit",
    "UnitType",
    "User",
    "UserManager",
    "UserRole",
    "UserStatus",
    "Worker",
    "WorkerV2",
]
