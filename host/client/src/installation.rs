//! The installation, for its operators: status, tenants and their limits.

use std::collections::BTreeMap;

use serde_json::Value;
use wedflow_documents::{
    Cluster, ClusterAdded, ClusterChange, List, MadeTenant, NewTenant, Paused, PutCluster, Reason, Receipt,
    ReceiptFilter, Tenant, TenantChange, Usage,
};

use crate::verbs::{verb, verbs};

verbs! {
    /// Returns the state of the installation: hosts, queue, history, problems.
    installation() = GET "installation" => call Value;
    /// Reads a part of the receipts of all tenants.
    all_receipts(filter: &ReceiptFilter) = GET "installation" / "receipts", query filter => call List<Receipt>;
    /// Lists the tenants.
    tenants() = GET "installation" / "tenants" => pages Tenant;
    /// Makes a tenant, with an admin where one is named.
    create_tenant(tenant: &NewTenant) = POST "installation" / "tenants", body tenant => call MadeTenant;
    /// Returns a tenant.
    tenant(tenant: &str) = GET "installation" / "tenants" / tenant => call Tenant;
    /// Changes a tenant: description, life of its tokens, suspended or not.
    change_tenant(tenant: &str, change: &TenantChange)
        = PATCH "installation" / "tenants" / tenant, body change => call Tenant;
    /// Deletes a tenant with all that it has.
    delete_tenant(tenant: &str) = DELETE "installation" / "tenants" / tenant => done;
    /// Pauses or resumes any tenant.
    pause_a_tenant(tenant: &str, pause: bool, reason: &Reason)
        = POST "installation" / "tenants" / tenant / (verb(pause)), body reason => call Paused;
    /// Lists a tenant's limits, and what it uses of them.
    quotas(tenant: &str) = GET "installation" / "tenants" / tenant / "quotas" => items Usage;
    /// Sets limits of a tenant by their names; none takes a limit away.
    set_quotas(tenant: &str, limits: &BTreeMap<String, Option<i64>>)
        = PATCH "installation" / "tenants" / tenant / "quotas", body limits => items Usage;
    /// Lists the clusters of the directory.
    clusters() = GET "installation" / "clusters" => items Cluster;
    /// Adds a cluster, or gives it another address.
    put_cluster(cluster: &str, asked: &PutCluster)
        = PUT "installation" / "clusters" / cluster, body asked => call ClusterAdded;
    /// Drains a cluster, or opens it.
    change_cluster(cluster: &str, change: &ClusterChange)
        = PATCH "installation" / "clusters" / cluster, body change => call Cluster;
    /// Takes a cluster without tenants out of the directory.
    delete_cluster(cluster: &str) = DELETE "installation" / "clusters" / cluster => done;
}
