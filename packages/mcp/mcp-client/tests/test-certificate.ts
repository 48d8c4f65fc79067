/**
 * A self-signed TLS certificate for servers of tests on this machine, with its key. TEST DATA: nothing trusts it, and
 * it protects nothing.
 */

/** For `localhost` and 127.0.0.1, from 2020 to 2120. */
export const testCertificate = {
  cert: `-----BEGIN CERTIFICATE-----
MIIBdjCCAR2gAwIBAgIBATAKBggqhkjOPQQDAjAcMRowGAYDVQQDDBFkc2gtbWNw
IHRlc3QgZGF0YTAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowHDEa
MBgGA1UEAwwRZHNoLW1jcCB0ZXN0IGRhdGEwWTATBgcqhkjOPQIBBggqhkjOPQMB
BwNCAATObJ0FhvOrZ9baOayunEsoa25Vs2BkN+D0yomwY3ZUw3zs9NQGCIJniCpZ
4F7A7NSbe7fLFRwZQLdi+420P7U2o04wTDAPBgNVHRMBAf8EBTADAQH/MBoGA1Ud
EQQTMBGCCWxvY2FsaG9zdIcEfwAAATAdBgNVHQ4EFgQUNoNJ+26+bGhgsByNaugh
1i/GgFAwCgYIKoZIzj0EAwIDRwAwRAIgSGbmHupHkngQAwXNUEPIk+OUKQiHn8P9
cFeE11r4utwCIHkwhHuIo+fPsnmhp9sXWeeufuDL5LI9gFWEqzX8jRsu
-----END CERTIFICATE-----`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgaHDW6n1/bASmvoyU
JllENT77wQ0R9ljpFfKgr7rnr/ehRANCAATObJ0FhvOrZ9baOayunEsoa25Vs2Bk
N+D0yomwY3ZUw3zs9NQGCIJniCpZ4F7A7NSbe7fLFRwZQLdi+420P7U2
-----END PRIVATE KEY-----`,
}
