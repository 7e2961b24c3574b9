package sdk

import "integration.example.com/sdk/gateway"

// The records of the gateway. A member that may be null has Get, which answers nil then.
type (
	Address               = gateway.Address
	Client                = gateway.Client
	InstanceIntegration   = gateway.InstanceIntegration
	NamedLocation         = gateway.NamedLocation
	NamedUnit             = gateway.NamedUnit
	OrganizationLocation  = gateway.OrganizationLocation
	OrganizationStructure = gateway.OrganizationStructure
	Unit                  = gateway.Unit
	UnitType              = gateway.UnitType
	User                  = gateway.User
	UserManager           = gateway.UserManager
	UserRole              = gateway.UserRole
	UserStatus            = gateway.UserStatus
	Worker                = gateway.Worker
	WorkerV2              = gateway.WorkerV2
)

// What a user status can be, as far as this release knows.
const (
	UserStatusActive   = gateway.UserStatusActive
	UserStatusInactive = gateway.UserStatusInactive
	UserStatusInvited  = gateway.UserStatusInvited
	UserStatusDeleted  = gateway.UserStatusDeleted
)
