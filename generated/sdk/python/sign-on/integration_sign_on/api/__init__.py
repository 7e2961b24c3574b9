# flake8: noqa

# import apis into api package
from integration_sign_on.api.authorization_api import AuthorizationApi
from integration_sign_on.api.discovery_api import DiscoveryApi
from integration_sign_on.api.identity_api import IdentityApi
from integration_sign_on.api.logout_api import LogoutApi
from integration_sign_on.api.tokens_api import TokensApi

