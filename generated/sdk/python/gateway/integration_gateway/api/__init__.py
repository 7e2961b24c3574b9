# flake8: noqa

# import apis into api package
from integration_gateway.api.changes_api import ChangesApi
from integration_gateway.api.clients_api import ClientsApi
from integration_gateway.api.instance_integrations_api import InstanceIntegrationsApi
from integration_gateway.api.job_titles_api import JobTitlesApi
from integration_gateway.api.organization_structure_api import OrganizationStructureApi
from integration_gateway.api.users_api import UsersApi
from integration_gateway.api.workers_api import WorkersApi

