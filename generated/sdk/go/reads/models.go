// Made by `make generate` from the contracts. Do not edit.

package sdk

import "integration.example.com/sdk/gateway"

// The records of the gateway. Members that may be null have a Get, which returns nil then.
type (
	Address               = gateway.Address
	ApplicationInstance   = gateway.ApplicationInstance
	ChangesDigest         = gateway.ChangesDigest
	EntityDigest          = gateway.EntityDigest
	InstanceIntegration   = gateway.InstanceIntegration
	NamedLocation         = gateway.NamedLocation
	NamedUnit             = gateway.NamedUnit
	OrganizationLocation  = gateway.OrganizationLocation
	OrganizationStructure = gateway.OrganizationStructure
	TenantClient          = gateway.TenantClient
	Unit                  = gateway.Unit
	UnitType              = gateway.UnitType
	User                  = gateway.User
	UserManager           = gateway.UserManager
	UserRole              = gateway.UserRole
	UserStatus            = gateway.UserStatus
	Worker                = gateway.Worker
	WorkerV2              = gateway.WorkerV2
)

// Client is another name, which earlier releases have.
type Client = TenantClient

// The values of UserStatus known to this release.
const (
	UserStatusActive   = gateway.UserStatusActive
	UserStatusInactive = gateway.UserStatusInactive
	UserStatusInvited  = gateway.UserStatusInvited
	UserStatusDeleted  = gateway.UserStatusDeleted
)
