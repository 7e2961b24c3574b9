package sdk

import "context"

// ListInstanceIntegrations returns all connections between your integration and instances. Start here.
func (g *Gateway) ListInstanceIntegrations(ctx context.Context) ([]InstanceIntegration, error) {
	return dataOf(g.IfChanged("").ListInstanceIntegrations(ctx))
}

// ListInstanceIntegrations returns all connections between your integration and instances. Start here.
func (c Conditional) ListInstanceIntegrations(ctx context.Context) (Reading[[]InstanceIntegration], error) {
	return conditionally(c.etag, c.gateway.api.InstanceIntegrationsAPI.ListInstanceIntegrations(ctx))
}

// ListClients returns all clients of the instance.
func (g *Gateway) ListClients(ctx context.Context, instanceIntegrationID string) ([]TenantClient, error) {
	return dataOf(g.IfChanged("").ListClients(ctx, instanceIntegrationID))
}

// ListClients returns all clients of the instance.
func (c Conditional) ListClients(ctx context.Context, instanceIntegrationID string) (Reading[[]TenantClient], error) {
	return conditionally(c.etag, c.gateway.api.ClientsAPI.ListClients(ctx, instanceIntegrationID))
}

// GetClient returns one client.
func (g *Gateway) GetClient(ctx context.Context, instanceIntegrationID, clientID string) (*TenantClient, error) {
	return dataOf(g.IfChanged("").GetClient(ctx, instanceIntegrationID, clientID))
}

// GetClient returns one client.
func (c Conditional) GetClient(ctx context.Context, instanceIntegrationID, clientID string) (Reading[*TenantClient], error) {
	return conditionally(c.etag, c.gateway.api.ClientsAPI.GetClient(ctx, instanceIntegrationID, clientID))
}

// ListWorkersV2 returns the workers of a client in one answer: with IfChanged the cheapest way to stay in sync.
func (g *Gateway) ListWorkersV2(ctx context.Context, instanceIntegrationID, clientID string) ([]WorkerV2, error) {
	return dataOf(g.IfChanged("").ListWorkersV2(ctx, instanceIntegrationID, clientID))
}

// ListWorkersV2 returns the workers of a client in one answer: with IfChanged the cheapest way to stay in sync.
func (c Conditional) ListWorkersV2(ctx context.Context, instanceIntegrationID, clientID string) (Reading[[]WorkerV2], error) {
	return conditionally(c.etag, c.gateway.api.WorkersAPI.ListWorkersV2(ctx, instanceIntegrationID, clientID))
}

// ListWorkers returns the workers as in version 1, without their place in the organization structure.
func (g *Gateway) ListWorkers(ctx context.Context, instanceIntegrationID, clientID string) ([]Worker, error) {
	return dataOf(g.IfChanged("").ListWorkers(ctx, instanceIntegrationID, clientID))
}

// ListWorkers returns the workers as in version 1, without their place in the organization structure.
func (c Conditional) ListWorkers(ctx context.Context, instanceIntegrationID, clientID string) (Reading[[]Worker], error) {
	return conditionally(c.etag, c.gateway.api.WorkersAPI.ListWorkers(ctx, instanceIntegrationID, clientID))
}

// ListWorkersV1 calls ListWorkers.
//
// Deprecated: it is the earlier name of ListWorkers.
func (g *Gateway) ListWorkersV1(ctx context.Context, instanceIntegrationID, clientID string) ([]Worker, error) {
	return g.ListWorkers(ctx, instanceIntegrationID, clientID)
}

// ListWorkersV1 calls ListWorkers.
//
// Deprecated: it is the earlier name of ListWorkers.
func (c Conditional) ListWorkersV1(ctx context.Context, instanceIntegrationID, clientID string) (Reading[[]Worker], error) {
	return c.ListWorkers(ctx, instanceIntegrationID, clientID)
}

// GetWorker returns one worker, offboarded or not.
func (g *Gateway) GetWorker(ctx context.Context, instanceIntegrationID, clientID, workerID string) (*WorkerV2, error) {
	return dataOf(g.IfChanged("").GetWorker(ctx, instanceIntegrationID, clientID, workerID))
}

// GetWorker returns one worker, offboarded or not.
func (c Conditional) GetWorker(ctx context.Context, instanceIntegrationID, clientID, workerID string) (Reading[*WorkerV2], error) {
	return conditionally(c.etag, c.gateway.api.WorkersAPI.GetWorkerV2(ctx, instanceIntegrationID, clientID, workerID))
}

// ListUsers returns the users of a client in one answer.
func (g *Gateway) ListUsers(ctx context.Context, instanceIntegrationID, clientID string) ([]User, error) {
	return dataOf(g.IfChanged("").ListUsers(ctx, instanceIntegrationID, clientID))
}

// ListUsers returns the users of a client in one answer.
func (c Conditional) ListUsers(ctx context.Context, instanceIntegrationID, clientID string) (Reading[[]User], error) {
	return conditionally(c.etag, c.gateway.api.UsersAPI.ListUsers(ctx, instanceIntegrationID, clientID))
}

// GetUser returns one user, in any status.
func (g *Gateway) GetUser(ctx context.Context, instanceIntegrationID, clientID, userID string) (*User, error) {
	return dataOf(g.IfChanged("").GetUser(ctx, instanceIntegrationID, clientID, userID))
}

// GetUser returns one user, in any status.
func (c Conditional) GetUser(ctx context.Context, instanceIntegrationID, clientID, userID string) (Reading[*User], error) {
	return conditionally(c.etag, c.gateway.api.UsersAPI.GetUser(ctx, instanceIntegrationID, clientID, userID))
}

// JobTitles returns the job titles that a client uses.
func (g *Gateway) JobTitles(ctx context.Context, instanceIntegrationID, clientID string) ([]string, error) {
	return dataOf(g.IfChanged("").JobTitles(ctx, instanceIntegrationID, clientID))
}

// JobTitles returns the job titles that a client uses.
func (c Conditional) JobTitles(ctx context.Context, instanceIntegrationID, clientID string) (Reading[[]string], error) {
	return conditionally(c.etag, c.gateway.api.JobTitlesAPI.ListJobTitles(ctx, instanceIntegrationID, clientID))
}

// OrganizationStructure returns the layers, units and locations of a client.
func (g *Gateway) OrganizationStructure(ctx context.Context, instanceIntegrationID, clientID string) (*OrganizationStructure, error) {
	return dataOf(g.IfChanged("").OrganizationStructure(ctx, instanceIntegrationID, clientID))
}

// OrganizationStructure returns the layers, units and locations of a client.
func (c Conditional) OrganizationStructure(ctx context.Context, instanceIntegrationID, clientID string) (Reading[*OrganizationStructure], error) {
	return conditionally(c.etag, c.gateway.api.OrganizationStructureAPI.GetOrganizationStructure(ctx, instanceIntegrationID, clientID))
}
