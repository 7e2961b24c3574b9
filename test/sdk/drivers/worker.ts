/** As the gateway writes one. */
export const worker = {
  id: 'wrk_1',
  firstName: 'Priya',
  lastName: 'Rao',
  fullName: 'Priya Rao',
  email: 'priya@example.com',
  jobTitles: ['Baker'],
  phone: null,
  location: {
    address1: null,
    address2: null,
    city: 'Leith',
    isoCountryCode: null,
    postalCode: null,
    zoneCode: null,
  },
  organizationUnits: [{ id: 'oru_1', name: 'Ovens' }],
  organizationUnit: { id: 'oru_1', name: 'Ovens' },
  organizationLocation: null,
  offboardedAt: null,
};
