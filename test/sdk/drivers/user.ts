/** As the gateway writes one. */
export const user = {
  userId: 'usr_1',
  clientId: 'cli_1',
  email: 'priya@example.com',
  firstName: null,
  lastName: null,
  fullName: null,
  status: 'ACTIVE',
  manager: null,
  role: null,
  createdAt: '2026-06-11T16:02:19.350Z',
};
