// Package sdk signs people in, reads the gateway and verifies webhooks of the Integration Service.
//
// [Gateway] reads, [SignOn] signs people in, [VerifyWebhook] verifies webhook requests. All are safe for
// concurrent use. The packages gateway and signon below have the records and the generated clients.
package sdk
