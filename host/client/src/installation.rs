//! The installation, for its operators: status, tenants and their limits.

use std::collections::BTreeMap;

use serde_json::Value;
use wedflow_documents::{
    Cluster, ClusterAdded, ClusterChange, List, MadeTenant, NewTenant, Page, Paused, PutCluster,
    Reason, Receipt, ReceiptFilter, Tenant, TenantChange, Usage,
};

use crate::client::Client;
use crate::error::ClientError;
use crate::request::Request;

impl Client {
    /// Returns the state of the installation: hosts, queue, history, problems.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn installation(&self) -> Result<Value, ClientError> {
        self.call(Request::get(&["installation"])).await
    }

    /// Reads a part of the receipts of all tenants.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn all_receipts(&self, filter: &ReceiptFilter) -> Result<List<Receipt>, ClientError> {
        self.call(Request::get(&["installation", "receipts"]).query(filter))
            .await
    }

    /// Lists the tenants.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn tenants(&self) -> Result<Vec<Tenant>, ClientError> {
        self.list(&["installation", "tenants"], &Page::default(), None)
            .await
    }

    /// Makes a tenant, with an admin where one is named.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn create_tenant(&self, tenant: &NewTenant) -> Result<MadeTenant, ClientError> {
        let request = Request::post(&["installation", "tenants"]);
        self.call(request.document(tenant)).await
    }

    /// Returns a tenant.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn tenant(&self, tenant: &str) -> Result<Tenant, ClientError> {
        self.call(of(Request::get, tenant, &[])).await
    }

    /// Changes a tenant: description, life of its tokens, suspended or not.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn change_tenant(
        &self,
        tenant: &str,
        change: &TenantChange,
    ) -> Result<Tenant, ClientError> {
        self.call(of(Request::patch, tenant, &[]).document(change))
            .await
    }

    /// Deletes a tenant with all that it has.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn delete_tenant(&self, tenant: &str) -> Result<(), ClientError> {
        self.done(of(Request::delete, tenant, &[])).await
    }

    /// Pauses or resumes any tenant.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn pause_a_tenant(
        &self,
        tenant: &str,
        pause: bool,
        reason: &Reason,
    ) -> Result<Paused, ClientError> {
        let verb = if pause { "pause" } else { "resume" };
        self.call(of(Request::post, tenant, &[verb]).document(reason))
            .await
    }

    /// Lists a tenant's limits, and what it uses of them.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn quotas(&self, tenant: &str) -> Result<Vec<Usage>, ClientError> {
        self.items(of(Request::get, tenant, &["quotas"])).await
    }

    /// Sets limits of a tenant by their names; none takes a limit away.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn set_quotas(
        &self,
        tenant: &str,
        limits: &BTreeMap<String, Option<i64>>,
    ) -> Result<Vec<Usage>, ClientError> {
        self.items(of(Request::patch, tenant, &["quotas"]).document(limits))
            .await
    }

    /// Lists the clusters of the directory.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn clusters(&self) -> Result<Vec<Cluster>, ClientError> {
        self.items(Request::get(&["installation", "clusters"]))
            .await
    }

    /// Adds a cluster, or gives it another address.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn put_cluster(
        &self,
        cluster: &str,
        asked: &PutCluster,
    ) -> Result<ClusterAdded, ClientError> {
        let request = Request::put(&["installation", "clusters", cluster]);
        self.call(request.document(asked)).await
    }

    /// Drains a cluster, or opens it.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn change_cluster(
        &self,
        cluster: &str,
        change: &ClusterChange,
    ) -> Result<Cluster, ClientError> {
        let request = Request::patch(&["installation", "clusters", cluster]);
        self.call(request.document(change)).await
    }

    /// Takes a cluster without tenants out of the directory.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn delete_cluster(&self, cluster: &str) -> Result<(), ClientError> {
        self.done(Request::delete(&["installation", "clusters", cluster]))
            .await
    }
}

/// Begins a request for a tenant, or for something of it.
fn of(begin: fn(&[&str]) -> Request, tenant: &str, what: &[&str]) -> Request {
    begin(&[&["installation", "tenants", tenant], what].concat())
}
