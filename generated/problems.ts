// Made by `make generate` from the contracts. Do not edit.

/** The HTTP status of each code of the gateway. */
export const problemStatuses = {
  invalid_request: 400,
  api_key_in_query: 400,
  api_key_missing: 401,
  api_key_malformed: 401,
  api_key_unknown: 401,
  api_key_expired: 401,
  api_key_wrong_environment: 401,
  instance_integration_not_found: 404,
  instance_integration_not_configured: 404,
  client_not_found: 404,
  user_not_found: 404,
  worker_not_found: 404,
  route_not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  cursor_expired: 410,
  rate_limited: 429,
  internal_error: 500,
  not_implemented: 501,
  unavailable: 503,
} as const;

/** What the gateway says with each code, as its document shows. */
export const problemMessages = {
  invalid_request: "The request does not satisfy the contract; `errors` says where.",
  api_key_in_query: "An API key does not belong in the address, where logs keep it. Send it in the header x-api-key, and replace this one.",
  api_key_missing: "Send your API key in the header x-api-key.",
  api_key_malformed: "This is not an API key: it was cut off or mistyped.",
  api_key_unknown: "This API key is not known. It may have been revoked.",
  api_key_expired: "This API key has expired. Ask the operator for a new one.",
  instance_integration_not_found: "Instance integration not found",
  instance_integration_not_configured: "Instance integration not configured",
  client_not_found: "Client not found",
  cursor_expired: "The service may lack some of what you have read, because it was restored or lost power, or another database server took over. Start again without after.",
  user_not_found: "User not found",
  worker_not_found: "Worker not found",
  method_not_allowed: "This path does not accept this method.",
  not_acceptable: "This operation answers application/json only.",
  internal_error: "Something went wrong on our side.",
  unavailable: "The service cannot answer right now. Please try again shortly.",
} as const;
