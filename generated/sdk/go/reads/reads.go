// Made by `make generate` from the contracts. Do not edit.

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

// GetClient returns one client of the instance.
func (g *Gateway) GetClient(ctx context.Context, instanceIntegrationID, clientID string) (*TenantClient, error) {
	return dataOf(g.IfChanged("").GetClient(ctx, instanceIntegrationID, clientID))
}

// GetClient returns one client of the instance.
func (c Conditional) GetClient(ctx context.Context, instanceIntegrationID, clientID string) (Reading[*TenantClient], error) {
	return conditionally(c.etag, c.gateway.api.ClientsAPI.GetClient(ctx, instanceIntegrationID, clientID))
}

// ListWorkers returns all workers of the client, but those offboarded, as version 1 shows them: without their place in the organization structure.
func (g *Gateway) ListWorkers(ctx context.Context, instanceIntegrationID, clientID string) ([]Worker, error) {
	return dataOf(g.IfChanged("").ListWorkers(ctx, instanceIntegrationID, clientID))
}

// ListWorkers returns all workers of the client, but those offboarded, as version 1 shows them: without their place in the organization structure.
func (c Conditional) ListWorkers(ctx context.Context, instanceIntegrationID, clientID string) (Reading[[]Worker], error) {
	return conditionally(c.etag, c.gateway.api.WorkersAPI.ListWorkers(ctx, instanceIntegrationID, clientID))
}

// JobTitles returns the job titles the client uses, each once.
func (g *Gateway) JobTitles(ctx context.Context, instanceIntegrationID, clientID string) ([]string, error) {
	return dataOf(g.IfChanged("").JobTitles(ctx, instanceIntegrationID, clientID))
}

// JobTitles returns the job titles the client uses, each once.
func (c Conditional) JobTitles(ctx context.Context, instanceIntegrationID, clientID string) (Reading[[]string], error) {
	return conditionally(c.etag, c.gateway.api.JobTitlesAPI.ListJobTitles(ctx, instanceIntegrationID, clientID))
}

// OrganizationStructure returns the layers, units and locations of the client in one object.
func (g *Gateway) OrganizationStructure(ctx context.Context, instanceIntegrationID, clientID string) (*OrganizationStructure, error) {
	return dataOf(g.IfChanged("").OrganizationStructure(ctx, instanceIntegrationID, clientID))
}

// OrganizationStructure returns the layers, units and locations of the client in one object.
func (c Conditional) OrganizationStructure(ctx context.Context, instanceIntegrationID, clientID string) (Reading[*OrganizationStructure], error) {
	return conditionally(c.etag, c.gateway.api.OrganizationStructureAPI.GetOrganizationStructure(ctx, instanceIntegrationID, clientID))
}

// ListUsers returns all users of the client except deleted ones.
func (g *Gateway) ListUsers(ctx context.Context, instanceIntegrationID, clientID string) ([]User, error) {
	return dataOf(g.IfChanged("").ListUsers(ctx, instanceIntegrationID, clientID))
}

// ListUsers returns all users of the client except deleted ones.
func (c Conditional) ListUsers(ctx context.Context, instanceIntegrationID, clientID string) (Reading[[]User], error) {
	return conditionally(c.etag, c.gateway.api.UsersAPI.ListUsers(ctx, instanceIntegrationID, clientID))
}

// Users reads the users of a client, page by page.
func (g *Gateway) Users(ctx context.Context, instanceIntegrationID, clientID string) Sequence[User] {
	return paged(ctx, g, g.api.UsersAPI.ListUsers(ctx, instanceIntegrationID, clientID).Limit(g.pageSize).Execute)
}

// GetUser returns one user of the client, in any status.
func (g *Gateway) GetUser(ctx context.Context, instanceIntegrationID, clientID, userID string) (*User, error) {
	return dataOf(g.IfChanged("").GetUser(ctx, instanceIntegrationID, clientID, userID))
}

// GetUser returns one user of the client, in any status.
func (c Conditional) GetUser(ctx context.Context, instanceIntegrationID, clientID, userID string) (Reading[*User], error) {
	return conditionally(c.etag, c.gateway.api.UsersAPI.GetUser(ctx, instanceIntegrationID, clientID, userID))
}

// ListWorkersV2 returns the workers of a client in one answer: with IfChanged the cheapest way to stay in sync.
func (g *Gateway) ListWorkersV2(ctx context.Context, instanceIntegrationID, clientID string) ([]WorkerV2, error) {
	return dataOf(g.IfChanged("").ListWorkersV2(ctx, instanceIntegrationID, clientID))
}

// ListWorkersV2 returns the workers of a client in one answer: with IfChanged the cheapest way to stay in sync.
func (c Conditional) ListWorkersV2(ctx context.Context, instanceIntegrationID, clientID string) (Reading[[]WorkerV2], error) {
	return conditionally(c.etag, c.gateway.api.WorkersAPI.ListWorkersV2(ctx, instanceIntegrationID, clientID))
}

// Workers reads the workers of a client, page by page.
func (g *Gateway) Workers(ctx context.Context, instanceIntegrationID, clientID string) Sequence[WorkerV2] {
	return paged(ctx, g, g.api.WorkersAPI.ListWorkersV2(ctx, instanceIntegrationID, clientID).Limit(g.pageSize).Execute)
}

// GetWorker returns one worker of the client, offboarded or not.
func (g *Gateway) GetWorker(ctx context.Context, instanceIntegrationID, clientID, workerID string) (*WorkerV2, error) {
	return dataOf(g.IfChanged("").GetWorker(ctx, instanceIntegrationID, clientID, workerID))
}

// GetWorker returns one worker of the client, offboarded or not.
func (c Conditional) GetWorker(ctx context.Context, instanceIntegrationID, clientID, workerID string) (Reading[*WorkerV2], error) {
	return conditionally(c.etag, c.gateway.api.WorkersAPI.GetWorkerV2(ctx, instanceIntegrationID, clientID, workerID))
}

// GetChangesDigest returns counts and digests of what the sequence of changes has of one client, to prove that your copy is equal.
func (g *Gateway) GetChangesDigest(ctx context.Context, instanceIntegrationID, clientID string) (*ChangesDigest, error) {
	return dataOf(g.IfChanged("").GetChangesDigest(ctx, instanceIntegrationID, clientID))
}

// GetChangesDigest returns counts and digests of what the sequence of changes has of one client, to prove that your copy is equal.
func (c Conditional) GetChangesDigest(ctx context.Context, instanceIntegrationID, clientID string) (Reading[*ChangesDigest], error) {
	return conditionally(c.etag, c.gateway.api.ChangesAPI.GetChangesDigest(ctx, instanceIntegrationID).ClientId(clientID))
}
