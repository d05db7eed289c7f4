//! Parts that a dump of one database leaves out: the roles of its flows, their settings, rights on the database.

use crate::statements::statements;
use crate::{Store, StoreError};

/// The name that stands for the database in [`BackupScript::after`].
pub const DATABASE_PLACEHOLDER: &str = "{database}";

/// Statements around the restoring of a dump.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupScript {
    /// The role that owns the database's objects but for those in `owners`.
    pub owner: String,
    /// The server's major version.
    pub server_major: u32,
    /// The database's size in bytes.
    pub bytes: i64,
    /// Roles of the flows: those that no other database of a server may have.
    pub roles: Vec<String>,
    /// To be run before: they make the roles. Each may be repeated.
    pub before: Vec<String>,
    /// To be run right after: they give objects to the roles that owned them. A dump can do so as a superuser only.
    pub owners: Vec<String>,
    /// To be run after, with the database's quoted name in place of [`DATABASE_PLACEHOLDER`].
    pub after: Vec<String>,
}

/// Roles that something of this database depends on, or that they are members of; but for the owner.
const ROLES: &str = "
WITH RECURSIVE used(oid) AS (
  SELECT d.refobjid FROM pg_shdepend d
  WHERE d.refclassid = 'pg_authid'::regclass AND d.dbid IN (0, (SELECT oid FROM pg_database WHERE datname = \
  current_database()))
    AND (d.dbid <> 0 OR d.classid = 'pg_database'::regclass AND d.objid = (SELECT oid FROM pg_database WHERE \
    datname = current_database()))
  UNION SELECT r.oid FROM wed.flow f JOIN pg_roles r ON r.rolname = f.role_name
  UNION SELECT m.roleid FROM pg_auth_members m JOIN used u ON u.oid = m.member)
SELECT r.oid, r.rolname FROM used u JOIN pg_roles r USING (oid)
WHERE r.rolname !~ '^pg_' AND r.oid <> (SELECT nspowner FROM pg_namespace WHERE nspname = 'wed')";

statements! {
    /// Returns true if the database is one of Wedflow's, migrated or being migrated.
    pub is_used(&self) -> bool = one "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'wed')";

    /// Databases of this server, but the one named `but`, in which some of these roles own something or have rights.
    /// What is done to a role for one database, as when its tenant is suspended, would be done to the other.
    pub databases_with(&self, roles: &[String], but: &str) -> Vec<String>
        = all "SELECT DISTINCT d.datname::text FROM pg_shdepend s JOIN pg_database d ON d.oid = s.dbid \
            JOIN pg_roles r ON r.oid = s.refobjid AND s.refclassid = 'pg_authid'::regclass \
            WHERE r.rolname = ANY ($1) AND d.datname <> $2 ORDER BY 1", roles, but;

    /// Has large values compressed as in a new database, where the server can: a backup leaves out how.
    pub compress_large_values(&self) -> () = run "SELECT wed.compress_large_values()";
}

impl Store {
    /// The statements that belong to a backup of this database.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn backup_script(&self) -> Result<BackupScript, StoreError> {
        let (owner, server_major, bytes): (String, i32, i64) = sqlx::query_as(
            "SELECT pg_get_userbyid(nspowner)::text, current_setting('server_version_num')::integer / 10000, \
               pg_database_size(current_database()) FROM pg_namespace WHERE nspname = 'wed'",
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(BackupScript {
            owner,
            server_major: u32::try_from(server_major).unwrap_or_default(),
            bytes,
            roles: self.script("SELECT role_name::text FROM wed.flow ORDER BY 1").await?,
            before: self.script(BEFORE).await?,
            owners: self.script(OWNERS).await?,
            after: self.script(AFTER).await?,
        })
    }

    async fn script(&self, query: &'static str) -> Result<Vec<String>, StoreError> {
        Ok(sqlx::query_scalar(sqlx::AssertSqlSafe(query.replace("{roles}", ROLES)))
            .persistent(false)
            .fetch_all(&self.pool)
            .await?)
    }

    /// Has a restored database's functions made anew at the next migration, as for its present owner, and takes from
    /// everybody what Postgres's own functions allow, as at the first migration.
    ///
    /// # Errors
    /// Only those of the connection.
    pub async fn renew_functions(&self) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM wed.function_source").execute(&self.pool).await?;
        sqlx::query("SELECT wed.contain()").execute(&self.pool).await?;
        Ok(())
    }

    /// Removes a role that [`make_former_owner`](Self::make_former_owner) made, with what it was granted in this
    /// database.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the role may not.
    pub async fn drop_former_owner(&self, former: &str) -> Result<(), StoreError> {
        let former = format!("\"{}\"", former.replace('"', "\"\""));
        self.run_script(&[
            format!("GRANT {former} TO CURRENT_USER"),
            format!("DROP OWNED BY {former}"),
            format!("DROP ROLE {former}"),
        ])
        .await
    }

    /// Makes a role without rights, for a backup whose owner this server has not. Returns false if there is one of that
    /// name.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the role may not.
    pub async fn make_former_owner(&self, former: &str) -> Result<bool, StoreError> {
        let there: bool = sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)")
            .bind(former)
            .fetch_one(&self.pool)
            .await?;
        if !there {
            let former = format!("\"{}\"", former.replace('"', "\"\""));
            self.run_script(&[format!("CREATE ROLE {former} NOLOGIN")]).await?;
        }
        Ok(!there)
    }

    /// Runs a backup's statements, one after another.
    ///
    /// # Errors
    /// [`StoreError::Refused`] when the role may not.
    pub async fn run_script(&self, statements: &[String]) -> Result<(), StoreError> {
        for statement in statements {
            sqlx::raw_sql(sqlx::AssertSqlSafe(statement.clone())).execute(&self.pool).await?;
        }
        Ok(())
    }
}

/// Roles with their attributes, then who is a member of which.
const BEFORE: &str = "
WITH roles AS ({roles})
SELECT statement FROM (
  SELECT 1 AS step, r.rolname::text AS name, format(
      'DO $do$ BEGIN CREATE ROLE %1$I; EXCEPTION WHEN duplicate_object THEN NULL; END $do$; ALTER ROLE %1$I %2$s \
      %3$s CONNECTION LIMIT %4$s%5$s',
      r.rolname, CASE WHEN a.rolcanlogin THEN 'LOGIN' ELSE 'NOLOGIN' END, CASE WHEN a.rolinherit THEN 'INHERIT' \
      ELSE 'NOINHERIT' END,
      a.rolconnlimit, CASE WHEN f.role_password IS NOT NULL THEN format(' PASSWORD %L', f.role_password) ELSE '' \
      END) AS statement
  FROM roles r JOIN pg_roles a USING (oid) LEFT JOIN wed.flow f ON f.role_name = r.rolname
  UNION ALL
  SELECT 2, r.rolname::text, format('GRANT %I TO %s', r.rolname,
      CASE WHEN EXISTS (SELECT FROM roles o WHERE o.oid = m.member) THEN quote_ident(pg_get_userbyid(m.member)) \
      ELSE 'CURRENT_USER' END)
  FROM roles r JOIN pg_auth_members m ON m.roleid = r.oid
  WHERE EXISTS (SELECT FROM roles o WHERE o.oid = m.member) OR m.member = (SELECT nspowner FROM pg_namespace WHERE \
  nspname = 'wed')
) s ORDER BY step, name";

/// Settings of roles in this database, and rights on it.
const AFTER: &str = "
WITH roles AS ({roles})
SELECT format('ALTER ROLE %I IN DATABASE {database} SET %I = %s', r.rolname, split_part(c, '=', 1),
    CASE WHEN split_part(c, '=', 1) = 'search_path' THEN substr(c, strpos(c, '=') + 1) ELSE quote_literal(substr(c, \
    strpos(c, '=') + 1)) END)
FROM roles r JOIN pg_db_role_setting s ON s.setrole = r.oid
  AND s.setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database())
CROSS JOIN LATERAL unnest(s.setconfig) c
-- The owner of the restored database may not be allowed to set it; wed.bound_files does where it is.
WHERE c NOT LIKE 'temp_file_limit=%'
UNION ALL
SELECT 'REVOKE ALL ON DATABASE {database} FROM PUBLIC' FROM pg_database WHERE datname = current_database() AND \
datacl IS NOT NULL
UNION ALL
SELECT format('GRANT %s ON DATABASE {database} TO %s', a.privilege_type,
    CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END)
FROM pg_database d CROSS JOIN LATERAL aclexplode(d.datacl) a
WHERE d.datname = current_database() AND (a.grantee = 0 OR a.grantee IN (SELECT oid FROM roles))";

/// Owners of tables and functions that are not the owner's; each may create in the schema for that moment only.
const OWNERS: &str = "
WITH owned AS (
  SELECT c.relnamespace AS schema, c.relowner AS owner, format('TABLE %s', c.oid::regclass) AS object
  FROM pg_class c WHERE c.relkind IN ('r', 'p', 'v')
  UNION ALL
  SELECT p.pronamespace, p.proowner, format('FUNCTION %s', p.oid::regprocedure) FROM pg_proc p
), theirs AS (
  SELECT o.*, n.nspname, r.rolname FROM owned o JOIN pg_namespace n ON n.oid = o.schema JOIN pg_roles r ON r.oid = o.owner
  WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
    AND o.owner <> (SELECT nspowner FROM pg_namespace WHERE nspname = 'wed')
)
SELECT statement FROM (
  SELECT DISTINCT 1 AS step, format('GRANT CREATE ON SCHEMA %I TO %I', nspname, rolname) AS statement FROM theirs
  UNION ALL
  SELECT 2, format('ALTER %s OWNER TO %I', object, rolname) FROM theirs
  UNION ALL
  SELECT DISTINCT 3, format('REVOKE CREATE ON SCHEMA %I FROM %I', nspname, rolname) FROM theirs
  WHERE NOT has_schema_privilege(owner, schema, 'CREATE')
) s ORDER BY step, statement";
