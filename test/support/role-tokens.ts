/** Tokens of edge and worker for processes that a test starts one by one. */
export const roleTokens = {
  EDGE_TOKEN: 'edge-token-of-the-tests-and-of-no-other',
  RELAY_TOKEN: 'relay-token-of-the-tests-and-of-no-other',
  MAINTENANCE_TOKEN: 'maintenance-token-of-the-tests-and-of-no-other',
};
