package sdk

import "context"

// ListInstanceIntegrations answers all connections between your integration and instances of the platform. Start here.
func (g *Gateway) ListInstanceIntegrations(ctx context.Context) ([]InstanceIntegration, error) {
	return dataOf(g.IfChanged("").ListInstanceIntegrations(ctx))
}

// ListInstanceIntegrations answers all connections between your integration and instances of the platform. Start here.
func (c Conditional) ListInstanceIntegrations(ctx context.Context) (Reading[[]InstanceIntegration], error) {
	request := c.gateway.api.InstanceIntegrationsAPI.ListInstanceIntegrations(ctx)
	if c.etag != "" {
		request = request.IfNoneMatch(c.etag)
	}
	return reading(request.Execute())
}

// ListClients answers all clients of the instance.
func (g *Gateway) ListClients(ctx context.Context, instanceIntegrationID string) ([]Client, error) {
	return dataOf(g.IfChanged("").ListClients(ctx, instanceIntegrationID))
}

// ListClients answers all clients of the instance.
func (c Conditional) ListClients(ctx context.Context, instanceIntegrationID string) (Reading[[]Client], error) {
	request := c.gateway.api.ClientsAPI.ListClients(ctx, instanceIntegrationID)
	if c.etag != "" {
		request = request.IfNoneMatch(c.etag)
	}
	return reading(request.Execute())
}

// GetClient answers one client.
func (g *Gateway) GetClient(ctx context.Context, instanceIntegrationID, clientID string) (*Client, error) {
	return dataOf(g.IfChanged("").GetClient(ctx, instanceIntegrationID, clientID))
}

// GetClient answers one client.
func (c Conditional) GetClient(ctx context.Context, instanceIntegrationID, clientID string) (Reading[*Client], error) {
	request := c.gateway.api.ClientsAPI.GetClient(ctx, instanceIntegrationID, clientID)
	if c.etag != "" {
		request = request.IfNoneMatch(c.etag)
	}
	return reading(request.Execute())
}

// ListWorkers answers the workers of a client in one go: with IfChanged the cheapest way to stay in sync.
func (g *Gateway) ListWorkers(ctx context.Context, instanceIntegrationID, clientID string) ([]WorkerV2, error) {
	return dataOf(g.IfChanged("").ListWorkers(ctx, instanceIntegrationID, clientID))
}

// ListWorkers answers the workers of a client in one go: with IfChanged the cheapest way to stay in sync.
func (c Conditional) ListWorkers(ctx context.Context, instanceIntegrationID, clientID string) (Reading[[]WorkerV2], error) {
	request := c.gateway.api.WorkersAPI.ListWorkersV2(ctx, instanceIntegrationID, clientID)
	if c.etag != "" {
		request = request.IfNoneMatch(c.etag)
	}
	return reading(request.Execute())
}

// ListWorkersV1 answers the workers as version 1 shows them, without their place in the organization structure.
func (g *Gateway) ListWorkersV1(ctx context.Context, instanceIntegrationID, clientID string) ([]Worker, error) {
	return dataOf(g.IfChanged("").ListWorkersV1(ctx, instanceIntegrationID, clientID))
}

// ListWorkersV1 answers the workers as version 1 shows them, without their place in the organization structure.
func (c Conditional) ListWorkersV1(ctx context.Context, instanceIntegrationID, clientID string) (Reading[[]Worker], error) {
	request := c.gateway.api.WorkersAPI.ListWorkers(ctx, instanceIntegrationID, clientID)
	if c.etag != "" {
		request = request.IfNoneMatch(c.etag)
	}
	return reading(request.Execute())
}

// GetWorker answers one worker, offboarded or not.
func (g *Gateway) GetWorker(ctx context.Context, instanceIntegrationID, clientID, workerID string) (*WorkerV2, error) {
	return dataOf(g.IfChanged("").GetWorker(ctx, instanceIntegrationID, clientID, workerID))
}

// GetWorker answers one worker, offboarded or not.
func (c Conditional) GetWorker(ctx context.Context, instanceIntegrationID, clientID, workerID string) (Reading[*WorkerV2], error) {
	request := c.gateway.api.WorkersAPI.GetWorkerV2(ctx, instanceIntegrationID, clientID, workerID)
	if c.etag != "" {
		request = request.IfNoneMatch(c.etag)
	}
	return reading(request.Execute())
}

// ListUsers answers the users of a client in one go.
func (g *Gateway) ListUsers(ctx context.Context, instanceIntegrationID, clientID string) ([]User, error) {
	return dataOf(g.IfChanged("").ListUsers(ctx, instanceIntegrationID, clientID))
}

// ListUsers answers the users of a client in one go.
func (c Conditional) ListUsers(ctx context.Context, instanceIntegrationID, clientID string) (Reading[[]User], error) {
	request := c.gateway.api.UsersAPI.ListUsers(ctx, instanceIntegrationID, clientID)
	if c.etag != "" {
		request = request.IfNoneMatch(c.etag)
	}
	return reading(request.Execute())
}

// GetUser answers one user, in whatever status.
func (g *Gateway) GetUser(ctx context.Context, instanceIntegrationID, clientID, userID string) (*User, error) {
	return dataOf(g.IfChanged("").GetUser(ctx, instanceIntegrationID, clientID, userID))
}

// GetUser answers one user, in whatever status.
func (c Conditional) GetUser(ctx context.Context, instanceIntegrationID, clientID, userID string) (Reading[*User], error) {
	request := c.gateway.api.UsersAPI.GetUser(ctx, instanceIntegrationID, clientID, userID)
	if c.etag != "" {
		request = request.IfNoneMatch(c.etag)
	}
	return reading(request.Execute())
}

// JobTitles answers the job titles a client uses.
func (g *Gateway) JobTitles(ctx context.Context, instanceIntegrationID, clientID string) ([]string, error) {
	return dataOf(g.IfChanged("").JobTitles(ctx, instanceIntegrationID, clientID))
}

// JobTitles answers the job titles a client uses.
func (c Conditional) JobTitles(ctx context.Context, instanceIntegrationID, clientID string) (Reading[[]string], error) {
	request := c.gateway.api.JobTitlesAPI.ListJobTitles(ctx, instanceIntegrationID, clientID)
	if c.etag != "" {
		request = request.IfNoneMatch(c.etag)
	}
	return reading(request.Execute())
}

// OrganizationStructure answers the layers, units and locations of a client.
func (g *Gateway) OrganizationStructure(ctx context.Context, instanceIntegrationID, clientID string) (*OrganizationStructure, error) {
	return dataOf(g.IfChanged("").OrganizationStructure(ctx, instanceIntegrationID, clientID))
}

// OrganizationStructure answers the layers, units and locations of a client.
func (c Conditional) OrganizationStructure(ctx context.Context, instanceIntegrationID, clientID string) (Reading[*OrganizationStructure], error) {
	request := c.gateway.api.OrganizationStructureAPI.GetOrganizationStructure(ctx, instanceIntegrationID, clientID)
	if c.etag != "" {
		request = request.IfNoneMatch(c.etag)
	}
	return reading(request.Execute())
}
